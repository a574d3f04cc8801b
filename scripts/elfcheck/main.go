// Command elfcheck says whether Linux executables are static, stripped and small enough. It needs nothing but Go, so a
// build machine without binutils can check what it made.
//
//	elfcheck [-max BYTES] FILE…
//
// It prints one line per file and exits 1 if a file fails.
package main

import (
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	limit := flag.Int64("max", 14_000_000, "largest size allowed, in bytes")
	flag.Parse()
	failed := false
	for _, name := range flag.Args() {
		size, err := check(name, *limit)
		if err != nil {
			fmt.Printf("%s: %v\n", name, err)
			failed = true
			continue
		}
		fmt.Printf("%s: static, %.1f MB\n", name, float64(size)/1e6)
	}
	if failed || flag.NArg() == 0 {
		os.Exit(1)
	}
}

// check reports the size of the executable in bytes, and an error that joins all that is wrong with it.
func check(name string, limit int64) (int64, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	f, err := elf.Open(name)
	if err != nil {
		return 0, fmt.Errorf("read ELF header: %w", err)
	}
	defer f.Close()
	faults := linkFaults(f)
	if info.Size() > limit {
		faults = append(faults, fmt.Errorf("%d bytes, over the limit of %d", info.Size(), limit))
	}
	return info.Size(), errors.Join(faults...)
}

// linkFaults lists what makes f need a loader or carry symbols.
func linkFaults(f *elf.File) []error {
	var faults []error
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_INTERP:
			faults = append(faults, errors.New("dynamic: it names an interpreter"))
		case elf.PT_DYNAMIC:
			faults = append(faults, errors.New("dynamic: it has a dynamic section"))
		}
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB || s.Name == ".debug_info" || s.Name == ".zdebug_info" {
			faults = append(faults, fmt.Errorf("not stripped: it has a section %s", s.Name))
		}
	}
	return faults
}
