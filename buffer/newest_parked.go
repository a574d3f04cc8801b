package buffer

import bolt "go.etcd.io/bbolt"

// NewestParked lists the refused points that were parked last, newest first, at most limit. It is safe from any goroutine.
func (s *Store) NewestParked(limit int) (list []Parked, err error) {
	names := s.cur.Load()
	err = s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketParked)).Cursor()
		for k, v := c.Last(); k != nil && len(list) < limit; k, v = c.Prev() {
			if p, ok := names.parkedAt(k, v); ok {
				list = append(list, p)
			}
		}
		return nil
	})
	return list, err
}
