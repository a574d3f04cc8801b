package agent

import (
	"log/slog"

	"edgeagent/configs"
	"edgeagent/mqtt"
)

// Synchronised reports whether the kernel says that something disciplines its clock; true where it does not tell.
func Synchronised() bool { return synchronised() }

// SessionOf is the session that the agent of a configuration holds at the broker, without filters.
func SessionOf(c *configs.Config, log *slog.Logger) (mqtt.Config, error) {
	tlsConfig, err := TLSOf("mqtt.tls", c.MQTT.TLS, log)
	if err != nil {
		return mqtt.Config{}, err
	}
	return mqtt.Config{
		Brokers: c.MQTT.Brokers, ClientID: c.MQTT.ClientID, Username: c.MQTT.Username, Password: secretFile(c.MQTT.PasswordFile, c.MQTT.Password),
		KeepAlive: c.MQTT.KeepAlive.Std(), MaxMessageBytes: int(c.MQTT.MaxMessageBytes), TLS: tlsConfig,
		StatusTopic: c.StatusTopic(), Logger: log,
	}, nil
}
