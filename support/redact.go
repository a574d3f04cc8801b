package support

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"edgeagent/configs"
)

// hidden stands in the place of a secret.
const hidden = "***"

// shortest is how many bytes a secret must have to be looked for: a shorter one would be found in any text.
const shortest = 3

// A Redactor hides secrets in text: those that it was given, wherever they turn up, and whatever has the look of one.
type Redactor struct {
	known *strings.Replacer
}

// NewRedactor hides the given secrets, as they are and as they are sent: quoted, escaped for a URL, in base64 (that of a pair
// user:password too) and in hex. Secrets of less than three bytes are not looked for.
func NewRedactor(secrets ...string) Redactor {
	var forms []string
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		forms = append(forms, s, strings.Trim(strconv.Quote(s), `"`), url.QueryEscape(s), url.PathEscape(s),
			base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s)))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // the longest first: one may hold another
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, hidden)
	}
	return Redactor{strings.NewReplacer(pairs...)}
}

// quoted is text in quotes of TOML or JSON; where the closing one is missing it ends with its line.
const quoted = `"""(?s:.*?)"""|'''(?s:.*?)'''|"(?:\\.|[^"\\\n])*(?:"|$)|'[^'\n]*(?:'|$)`

// What has the look of a secret: credentials in an address, a header, a key with such a name.
var (
	inAddress = regexp.MustCompile(`//[^/@\s"']+@`)
	inHeader  = regexp.MustCompile(`(?i)\b(bearer|token|basic)\s+([A-Za-z0-9+/=._~-]{6,})`)
	inKey     = regexp.MustCompile(`(?im)((?:password|passwd|secret|token|api_?key|credential)s?["']?[ \t]*[=:][ \t]*)(` + quoted + `|[^\s"',;&)]+)`)
)

// Hide is text without secrets.
func (r Redactor) Hide(text string) string {
	text = r.known.Replace(text)
	text = inAddress.ReplaceAllString(text, "//"+hidden+"@")
	text = inHeader.ReplaceAllStringFunc(text, func(found string) string {
		m := inHeader.FindStringSubmatch(found)
		if isOrdinary(m[2]) {
			return found
		}
		return m[1] + " " + hidden
	})
	return inKey.ReplaceAllStringFunc(text, func(found string) string {
		m := inKey.FindStringSubmatch(found)
		if reference.MatchString(m[2]) || plain[m[2]] || spoken.MatchString(m[1]) && isOrdinary(m[2]) {
			return found
		}
		return m[1] + hidden
	})
}

// plain are values that hide nothing.
var plain = map[string]bool{`""`: true, hidden: true, "true": true, "false": true, `"(hidden)"`: true}

// spoken is a key with a colon and a blank behind it, as in a sentence: "read token or password: open /run/token: no such file".
var spoken = regexp.MustCompile(`[A-Za-z]: +$`)

// keyName is a key of the configuration, or a header's own words, where a value might stand.
var keyName = regexp.MustCompile(`^(?:mqtt|uplink|http)\.[a-z_.]+:?$|^realm=`)

// isOrdinary reports whether a word behind "token" or "password:" is one of a sentence, and no secret. Only words that are listed are: what else is made
// of letters may be a password.
func isOrdinary(word string) bool {
	return keyName.MatchString(word) || ordinary[strings.TrimRight(word, ".:,")]
}

// ordinary are the words with which errors and advice go on, those of this program, of the system, and of brokers and servers.
var ordinary = func() map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(`a against already and are authentication authorization authorized authorised before belongs cannot check
		cipher closed connection credentials could decode denied dial does empty error expired failed file files for given has in incorrect invalid is
		itself lookup look make may missing mkdir must name needed no none not of on once only open or permission permissions put read refused refuses
		rejected required rights scheme see server should stat such than the there they this timed to under unauthorized unexpected unknown unset was
		whose with without would write wrong`) {
		all[w] = true
	}
	return all
}()

// reference is a value that says where a secret comes from, not what it is.
var reference = regexp.MustCompile(`^"?\$\{[A-Za-z_][A-Za-z0-9_]*\}"?$`)

// setting is a line of a configuration that gives a key its value, commented out or not.
var setting = regexp.MustCompile(`^([ \t]*#?[ \t]*(?:[\w-]+\.)*["']?([\w-]+)["']?[ \t]*=[ \t]*)([^=\s].*)$`)

// pathLike is the value of a key such as token_file that begins as a path, and is not the secret itself.
var pathLike = regexp.MustCompile(`^["']*(?:\.{0,2}/|~/|\$\{)[^="']*(?:["']|$)`)

// hideRaw is the text of a configuration that cannot be used, without the values of secrets and of keys that no section has: one of
// those may be a secret under a misspelt name. What follows such a value, up to the next key, table, remark or empty line, is part of it.
func hideRaw(text string) string {
	var b strings.Builder
	hiding := false
	for _, line := range strings.SplitAfter(text, "\n") {
		bare := strings.TrimSpace(line)
		if m := setting.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			if hiding = (configs.HidesValue(m[2]) || strings.HasSuffix(m[2], "_file") && !pathLike.MatchString(m[3])) && !reference.MatchString(m[3]) && !plain[m[3]]; hiding {
				line = m[1] + hidden + line[len(m[0]):]
			}
		} else if hiding && bare != "" && bare[0] != '[' && bare[0] != '#' {
			continue
		} else {
			hiding = false
		}
		b.WriteString(line)
	}
	return b.String()
}

// SecretsOf are the secrets of a configuration: those in it, and what is in the files that it names.
func SecretsOf(c *configs.Config) []string {
	all := []string{c.MQTT.Password}
	files := []string{c.MQTT.PasswordFile, c.HTTP.TokenFile}
	users := [][2]string{{c.MQTT.Username, c.MQTT.Password}, {c.MQTT.Username, read(c.MQTT.PasswordFile)}}
	for _, u := range c.Uplinks {
		all = append(all, u.Password, u.Token)
		files = append(files, u.PasswordFile, u.TokenFile)
		users = append(users, [2]string{u.Username, u.Password}, [2]string{u.Username, read(u.PasswordFile)})
	}
	for _, f := range files {
		all = append(all, read(f))
		if !configs.ShowsFile(f) { // somebody has written the secret where its file belongs
			all = append(all, f)
		}
	}
	for _, u := range users {
		if u[0] != "" && u[1] != "" {
			all = append(all, base64.StdEncoding.EncodeToString([]byte(u[0]+":"+u[1])))
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// read is what is in a secret file, "" if there is none or it cannot be read: then nobody else here has read it either.
func read(path string) string {
	if path == "" {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
}

// variable is a ${NAME} in the text of a configuration.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// SecretsIn are the values of the variables that a text names, for one that could not be read as a configuration.
func SecretsIn(text string) []string {
	var all []string
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if v := os.Getenv(m[1]); v != "" {
			all = append(all, v)
		}
	}
	return all
}
