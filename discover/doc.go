// Package discover guesses from messages seen on a broker which sources would read them.
//
// A Survey gathers messages, bounded. Groups then tries every preset on every topic and takes the one that makes readings of
// what came; topics that no preset knows are searched for a number under a key that speaks of temperature, or for a plain
// number on a topic that does. Topics of one guess become one group with one topic pattern. What is printed from it is a
// start, to be looked over by whoever knows the devices: a guess never looks at what a number means.
//
// It is a pure package: it reads no broker and no clock.
package discover
