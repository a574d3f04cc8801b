package reading

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// readRuuvi puts the temperature of a gateway's raw advertisement (data, in hex) before the other keys of the object. An
// object without data in a known format stays as it is: a gateway may decode by itself, and its own status shares the
// topics. https://docs.ruuvi.com/communication/bluetooth-advertisements
func (d *Decoder) readRuuvi(root gjson.Result) document {
	data := child(root, "data")
	if data.Type != gjson.String {
		return good(root)
	}
	adv, err := hex.DecodeString(data.Str)
	if err != nil {
		return undecodable(fmt.Sprintf("invalid advertisement: %v", err))
	}
	celsius, known := ruuviCelsius(manufacturerData(adv))
	if !known {
		return good(root)
	}
	start := len(d.buf)
	d.buf = appendFloat(append(d.buf, `{"temperature":`...), celsius, 64)
	rest := strings.TrimLeft(strings.TrimSpace(root.Raw)[1:], stripped)
	if rest != "}" {
		d.buf = append(d.buf, ',')
	}
	d.buf = append(d.buf, rest...)
	return good(gjson.Parse(alias(d.buf[start:])))
}

// ruuviCelsius is the temperature of what a sensor advertises, NaN if it measured none. Formats 5, 6 and E1 have it as a
// signed number of 0.005 degrees; the old format 3 as a sign, whole degrees and hundredths.
func ruuviCelsius(body []byte) (celsius float64, known bool) {
	if len(body) < 3 {
		return 0, false
	}
	switch body[0] {
	case 0x05, 0x06, 0xe1:
		code := int16(uint16(body[1])<<8 | uint16(body[2]))
		if code == math.MinInt16 {
			return math.NaN(), true
		}
		return float64(code) / 200, true
	case 0x03:
		if len(body) < 4 || body[3] > 99 {
			return 0, false
		}
		celsius = float64(int(body[2]&0x7f)*100+int(body[3])) / 100
		if body[2]&0x80 != 0 {
			celsius = -celsius
		}
		return celsius, true
	}
	return 0, false
}

// manufacturerData is what follows Ruuvi's company id 0x0499 in an advertisement: a list of length, type and data.
func manufacturerData(adv []byte) []byte {
	for len(adv) > 1 {
		n := int(adv[0])
		if n == 0 || n >= len(adv) {
			return nil
		}
		field := adv[1 : 1+n]
		if len(field) >= 3 && field[0] == 0xff && field[1] == 0x99 && field[2] == 0x04 {
			return field[3:]
		}
		adv = adv[1+n:]
	}
	return nil
}
