package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/net/netutil"
)

// A Source makes a Report when asked. It is called by several goroutines at once, must not change what it reports on, and
// must return soon after ctx is done. An error is answered as 503 and means that the agent does not answer.
type Source func(ctx context.Context) (Report, error)

// Options are what a Server needs.
type Options struct {
	Listen string // host:port as in http.listen; "" is off
	// Token gives the token that every request must bring as "Authorization: Bearer". It is called for each request, so a
	// file may change; an error or an empty token refuses the request. nil asks for none.
	Token   func() (string, error)
	Source  Source       // required
	Details Details      // nil: the page has no charts and no sensors
	Logger  *slog.Logger // nil is silent
}

// Bounds of one server. They are small: a gateway has a technician's browser and a scraper or two.
const (
	maxConns      = 32
	maxHeader     = 8 << 10
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	sourceTimeout = 5 * time.Second // for a Source to answer
	writeTimeout  = 20 * time.Second
	idleTimeout   = 30 * time.Second
	stopTimeout   = 2 * time.Second // for requests in flight when the agent stops
)

// A Server answers HTTP. It only reads.
type Server struct {
	o      Options
	logger *slog.Logger
}

// New makes a Server; nothing listens before Run.
func New(o Options) *Server {
	return &Server{o: o, logger: loggerOr(o.Logger)}
}

func loggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Run serves until ctx is done and then returns nil, when all requests have ended or were cut off after two seconds. With
// an empty Listen it returns nil at once. An error means that nothing is served: the address cannot be listened on, for
// instance because its port is in use (syscall.EADDRINUSE) or it is no address of this machine yet
// (syscall.EADDRNOTAVAIL); Run may then be called again.
func (s *Server) Run(ctx context.Context) error {
	if s.o.Listen == "" {
		return nil
	}
	ln, err := s.listen(ctx)
	if err != nil {
		return err
	}
	s.logger.Info("status page", "url", "http://"+ln.Addr().String()+"/", "token", s.o.Token != nil)
	return serve(ctx, ln, s.handler(ln.Addr()), s.logger)
}

// listen opens the address, with an error that names the key and what to do.
func (s *Server) listen(ctx context.Context) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.o.Listen)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("http.listen: %s is in use by another program (a second agent?); choose another port, or \"\" for none: %w", s.o.Listen, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("http.listen: %s is no address of this machine now: %w", s.o.Listen, err)
	}
	return nil, fmt.Errorf("http.listen: listen on %s: %w", s.o.Listen, err)
}

// handler is what a listener on addr serves.
func (s *Server) handler(addr net.Addr) http.Handler {
	h := authorize(s.o.Token, s.logger, newSite(s.o.Source, s.o.Details, s.logger).routes())
	h = ownHost(s.hosts(addr), sameSite(readOnly(h)))
	return guarded(s.logger, h)
}

// serve answers on ln, which it closes, until ctx is done.
func serve(ctx context.Context, ln net.Listener, h http.Handler, logger *slog.Logger) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(netutil.LimitListener(ln, maxConns)) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve status on %s: %w", ln.Addr(), errors.Join(err, srv.Close()))
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if srv.Shutdown(stop) != nil {
		srv.Close() // the rest is cut off
	}
	<-done
	return nil
}
