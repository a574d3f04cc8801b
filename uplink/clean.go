package uplink

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Where secrets of others may stand in a text: before the @ of an address, such as a proxy's, and in an echoed header.
var (
	userinfo = regexp.MustCompile(`//[^/@\s]*@`)
	encoded  = regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}={0,2}`)
)

// A hider takes one secret out of texts, in all the forms in which a server may send it back.
type hider struct {
	secret string
	forms  *regexp.Regexp // nil: the secret is too short to be told from other text
}

func newHider(secret string) hider {
	h := hider{secret: secret}
	if len(secret) <= 3 {
		return h
	}
	quoted, _ := json.Marshal(secret) // a text of UTF-8, made so if it is none
	var forms []string
	for _, s := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(secret))} {
		forms = append(forms, regexp.QuoteMeta(strings.ToValidUTF8(s, "�")))
	}
	h.forms = regexp.MustCompile("(?i)" + strings.Join(forms, "|"))
	return h
}

// clean takes secrets out of a text: that of the last request, in all the forms in which it was sent, and others where
// they can be told.
func (p *poster) clean(s string) string {
	if p.hide.secret != p.secret {
		p.hide = newHider(p.secret)
	}
	if p.hide.forms != nil {
		s = p.hide.forms.ReplaceAllString(s, "***")
	}
	s = encoded.ReplaceAllStringFunc(s, func(word string) string {
		if p.betrays(word) {
			return "***"
		}
		return word
	})
	return userinfo.ReplaceAllString(s, "//***@")
}

// betrays reports whether word is base64 of the secret, or of a user with a password. A number is none.
func (p *poster) betrays(word string) bool {
	if !strings.ContainsFunc(word, unicode.IsLetter) {
		return false
	}
	word = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(word, "="))
	plain, err := base64.RawStdEncoding.DecodeString(word)
	if err != nil {
		return false
	}
	return p.hide.forms != nil && bytes.Contains(plain, []byte(p.secret)) || bytes.Contains(plain, []byte(":")) && utf8.Valid(plain)
}
