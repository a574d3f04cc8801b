// Package reading turns MQTT messages into temperature readings, or into reasons why they are none.
//
// A Rule is one [[source]] of the configuration. Compile checks all rules at once and makes a Decoder; Decode then takes
// one Message at a time and fills a Result. Every message that a source takes ends as at least one Reading or one Refusal:
// nothing is dropped in silence and nothing becomes 0.
//
// All formats share one evaluator. Each format but text has a small reader that turns its payload into JSON (CSV rows
// become arrays, line protocol and SenML become records with their tags, units and times resolved), and paths, numbers,
// times and units then work alike on all of them.
//
// # Rules worth knowing
//
//   - When several sources take a topic, a refusal counts only if none of them yields a reading, and a reading that a later
//     source gives exactly like an earlier one (series, time, value) is dropped. Within one source repeats are kept.
//   - A record found by a bare {name} step of each that is a plain text, number or boolean is no record, unless the record
//     itself is the value: in Tasmota's {"Time":…,"DS18B20":{…}} only the probe is one.
//   - A sentinel of reject is compared with the number as it came, after scale, and in Celsius, to seven digits: 32767 and
//     327.67 both work with scale 0.01, and 85 catches the power-on value of a probe that reports 185 °F.
//   - A unit suffix in the text of a number wins over the unit of the rule.
//   - An unusable time (absent, null, not a time, before not_before, zero) becomes the arrival time if the whole message has
//     one time: it is read from the root or the topic, or there is one record. Otherwise that record is refused. A time
//     too far ahead for 64 bits of nanoseconds (after 2262) is refused as future, never replaced.
//   - Numeric times are decimal text to int64 nanoseconds, exactly; digits past the nanosecond are cut toward the floor.
//   - A local time that a zone skips is read with the offset from before the gap.
//   - SenML times below 2^28 seconds are relative to the arrival, and so count as arrival-timed.
//   - The first of several equal keys of a JSON object is the one that counts.
//   - A tag whose template finds nothing is left out; a sensor that finds nothing is refused.
//   - A step [key=value] takes the elements of a list that fit, and of an object the object itself if it fits: with
//     each = "[dtype=Temp]" a topic that all kinds of devices share gives its thermometers alone.
//   - A leap second, 23:59:60, is the second after it; the name of a zone in brackets after an offset is passed over. A unit may be spelt in any case, with degree sign or word.
//
// # State
//
// A Decoder belongs to one goroutine. It keeps two bounded caches, which never change what is decoded, and the Sparkplug
// alias table, which does: that table is the agent's state, taken out with Aliases and put back with SetAliases.
package reading
