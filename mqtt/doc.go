// Package mqtt is the intake: it holds one persistent MQTT 3.1.1 session with a broker, whatever happens to the
// connection, hands on every message with its packet identifier, and writes the acknowledgements that it is told to.
//
// A Client connects and reconnects while Run runs. All that happens (connected, a message, subscribed, the connection is
// gone) comes out of Take as Deliveries in the order in which it happened, each with the number of its connection. The
// owner acknowledges with Ack once what it made of the messages is on disk; a message never acknowledged comes again with
// the next connection. Nothing is acknowledged by itself, so a message that can never be used must be acknowledged too.
//
// The protocol is paho.mqtt.golang's, one fresh paho client for each connection: paho's own reconnecting hides whether
// the broker still had the session, and its clients are not made to be connected again. What lies between paho and the
// network is ours (type wire), for what paho leaves open:
//
//   - a PUBLISH over Config.MaxMessageBytes is cut on the wire, because paho allocates what a header claims; its Delivery
//     has TooBig set, and is handed on before the body has passed, so that a giant message on a thin line is dealt with once;
//   - whatever paho would crash or spin on (a SUBACK that is too long, a CONNACK code it does not know, a length that does
//     not fit) ends the connection with an error;
//   - acknowledgements of a whole batch go out in one write;
//   - silence is judged where bytes are read, not by when they were dealt with, so a slow consumer is no dead broker.
//
// # Bounds
//
// The queue between paho and Take is bounded in messages and bytes. When it is full nothing more is read; after half a
// keep-alive of that the connection is ended on purpose, since the broker would end it soon, and a new one is made when the
// queue has been taken. QoS 1 messages wait at the broker meanwhile. Beside the queue about five messages are on their way
// through paho.
//
// # Caveats
//
// A Client runs once. Acknowledgements of an older connection are void, by the protocol: the broker sends such messages
// again. A QoS 2 message (left from another program's session; filters here are QoS 0 or 1) is acknowledged as a QoS 2
// message and delivered like any other. Dial timeouts are 15 s; a websocket that is being opened cannot be interrupted and
// may hold up the end of Run for 10 s. Proxies from the environment are used for websockets only.
package mqtt
