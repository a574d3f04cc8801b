// Package docs finds in the documents beside it what a program can check: blocks of commands, configurations and queries, commands
// named in a sentence, and links. Only tests import it.
package docs
