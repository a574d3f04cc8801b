package status

// ofUplinks makes families of each uplink one of all, whose samples bear its name if there are several.
func (r Report) ofUplinks(families func(UplinkPart) []family) (all []family) {
	for i, u := range r.uplinks() {
		for j, f := range families(u.UplinkPart) {
			for k := range f.samples {
				f.samples[k].uplink = u.name
			}
			if i == 0 {
				all = append(all, f)
			} else {
				all[j].samples = append(all[j].samples, f.samples...)
			}
		}
	}
	return all
}
