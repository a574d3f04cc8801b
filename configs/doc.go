// Package configs holds the configuration of edgeagent: its type, its defaults, and the reading and judging of the file.
//
// Load reads a file, Parse a text. Both give a Config that is complete and valid, or an *Error with every fault of the
// file at its line and column. One list, in schema.go, names every key with its place in the Config, its form and its
// bounds; reading, the search for unknown keys, Render and the test of docs/configuration.md all follow it.
//
// The file is TOML. Text may hold ${NAME}, which stands for an environment variable; $${ stands for ${ itself. Keys,
// numbers and comments are never replaced. A password or token is a variable as a whole or, better, comes from a file
// named by the *_file key; as plain text it is refused, so that the file can be shown to anyone.
//
// Keys whose feature this version lacks are refused by name: nothing that is written in the file is ignored.
//
// The example files beside this code (edgeagent.toml, minimal.toml, influxdb2.toml, mirror.toml) are loaded by the tests.
package configs
