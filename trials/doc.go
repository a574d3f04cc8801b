// Package trials holds, as tests, those of the field's trials that no package's own tests cover: each drives the agent's
// real program, or the agent in this process, between a real broker and a scripted server, and asserts the one right
// outcome. Nothing that ships imports it. docs/trials.md says where the test of every trial is.
package trials
