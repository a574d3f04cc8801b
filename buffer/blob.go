package buffer

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// putBlob stores data under name in parts, and writes only the parts that differ from those already there: a big state of
// which little changes costs little. Empty data deletes the blob.
func putBlob(b *bolt.Bucket, name string, data []byte) error {
	prefix := []byte(name)
	n := 0
	if len(data) > 0 {
		sealed := seal(prefix, bytes.Clone(data)) // the caller's slice may have room behind it
		err := partsOf(prefix, sealed, func(k, v []byte) error {
			n++
			if bytes.Equal(b.Get(k), v) {
				return nil
			}
			return b.Put(k, v)
		})
		if err != nil {
			return err
		}
	}
	for k := partKey(prefix, n); b.Get(k) != nil; k = partKey(prefix, n) {
		if err := b.Delete(k); err != nil {
			return err
		}
		n++
	}
	return nil
}

// getBlob copies out what putBlob stored; nil if there is none.
func getBlob(b *bolt.Bucket, name string) ([]byte, error) { return joinBlob(b.Get, name) }

// joinBlob puts a blob together from parts that get finds by key.
func joinBlob(get func(k []byte) []byte, name string) ([]byte, error) {
	prefix := []byte(name)
	var sealed []byte
	for i := 0; ; i++ {
		v := get(partKey(prefix, i))
		if v == nil {
			break
		}
		sealed = append(sealed, v...)
	}
	if sealed == nil {
		return nil, nil
	}
	data, err := unseal(prefix, sealed)
	if err != nil {
		return nil, &RecordError{Bucket: bucketState, Key: name, Cause: err}
	}
	return data, nil
}
