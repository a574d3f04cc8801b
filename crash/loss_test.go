package crash

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A loss says how much of what was not synced a cut takes.
type loss uint8

const (
	loseAll  loss = iota // nothing that was not synced is there
	loseNone             // all is there
	loseTail             // what was written first is there, up to some moment
	loseTorn             // so too, and the next write is there up to some sector
	loseSome             // of each sector any of the contents that it was given
	loseFew              // so too, but of most sectors the newest
	loseMost             // so too, but of most sectors the oldest
	numLosses
)

// ordered are the losses that keep the order of writes: what a disk that is only slow would leave.
const ordered = loseTorn

// cut writes to dir what a cut now may leave.
func (d *disk) cut(t *testing.T, dir string, how loss, sector int64, rng *rand.Rand) {
	t.Helper()
	names := maps.Clone(d.names)
	n := len(d.moves)
	switch how {
	case loseAll:
		n = 0
	case loseNone:
	default:
		n = rng.IntN(n + 1)
	}
	for _, m := range d.moves[:n] {
		m.apply(names)
	}
	for name, node := range names {
		content := node.left(how, sector, rng)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// left is what a cut leaves of a file.
func (node *inode) left(how loss, sector int64, rng *rand.Rand) []byte {
	content := append([]byte(nil), node.durable...)
	pending := node.pending
	switch how {
	case loseAll:
		return content
	case loseTail, loseTorn:
		pending = pending[:rng.IntN(len(pending)+1)]
	}
	chances := map[loss]float64{loseSome: 0.5, loseFew: 0.95, loseMost: 0.05}
	for i, p := range pending {
		switch chance, scattered := chances[how]; {
		case scattered:
			content = p.scattered(content, sector, chance, rng)
		case how == loseTorn && i == len(pending)-1 && p.length < 0:
			sectors := int64(len(p.data)) / sector
			p.data = p.data[:rng.Int64N(sectors+1)*sector]
			content = p.whole(content)
		default:
			content = p.whole(content)
		}
	}
	return content
}

// scattered applies a change sector by sector, each with a chance.
func (p change) scattered(content []byte, sector int64, chance float64, rng *rand.Rand) []byte {
	if p.length >= 0 {
		if rng.Float64() < chance {
			return resized(content, p.length)
		}
		return content
	}
	for at := int64(0); at < int64(len(p.data)); at += sector {
		if rng.Float64() < chance {
			piece := change{off: p.off + at, data: p.data[at:min(at+sector, int64(len(p.data)))], length: -1}
			content = piece.whole(content)
		}
	}
	return content
}
