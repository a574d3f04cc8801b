// Package doctor finds out whether everything that an agent needs is right: configuration, broker, messages, servers, clock, store,
// disk, secrets. Run asks all of it, beside a running agent or without one, and gives one Line for each thing: OK, WARN or FAIL, what
// was seen, and what to do next.
//
// It changes nothing. At the broker it uses sessions of its own, which the broker forgets; at the servers it writes nothing (see
// uplink.Try); the store of a running agent is asked for by its control socket, that of a stopped one is opened for reading and let
// go of at once. In the data folder of a stopped agent it makes one small file and removes it.
//
// What is seen and what is made of it are kept apart: the functions whose names begin with see gather, those that begin with judge
// are pure. Like package agent it may name all others, which do not name each other.
package doctor
