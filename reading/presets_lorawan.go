package reading

// lorawanPresets are network servers; what is inside an uplink, the codec of the device decides.
func lorawanPresets() []Preset {
	const (
		cs4       = "https://github.com/chirpstack/chirpstack/blob/master/api/proto/integration/integration.proto"
		cs3       = "https://github.com/brocaar/chirpstack-api/blob/4b2fcccf1796cd4e0edc08682435a1593573604f/protobuf/as/integration/integration.proto"
		things    = "https://www.thethingsindustries.com/docs/the-things-stack/concepts/data-formats/"
		milesight = "https://github.com/Milesight-IoT/SensorDecoders"
		dragino   = "https://github.com/dragino/dragino-end-node-decoder"
		up        = "application/{app}/device/{eui}/event/up"
		ttsUp     = "v3/{app}/devices/{device}/up"
		decoded   = "uplink_message.decoded_payload."
		received  = "uplink_message.received_at|received_at"
	)
	noProbe := []float64{327.67} // of Dragino
	return []Preset{
		{"chirpstack4", cs4, Rule{Topic: up, Value: "object.temperature", Sensor: "{eui}", Time: "time"}},
		{"chirpstack4-cayenne", cs4, Rule{Topic: up, Value: "object.temperatureSensor.{ch}", Sensor: "{eui}/{ch}", Time: "time"}},
		{"chirpstack4-milesight-channels", milesight, Rule{Topic: up, Value: "object.temperature_chn{ch}", Sensor: "{eui}/{ch}", Time: "time"}},
		{"chirpstack4-milesight-history", milesight,
			Rule{Topic: up, Each: "object.history[*]", Value: "temperature", Sensor: "{eui}", Time: "timestamp", TimeRequired: true}},
		{"chirpstack4-dragino", dragino, Rule{Topic: up, Value: "object.TempC_SHT", Sensor: "{eui}/sht", Time: "time", Reject: noProbe}},
		{"chirpstack4-dragino-probe", dragino,
			Rule{Topic: up, Value: "object.TempC_DS|object.TempC_DS18B20|object.TempC1", Sensor: "{eui}/ds", Time: "time", Reject: noProbe}},

		// JSON in a text (objectJSON) or as an object, by the marshaler
		{"chirpstack3", cs3, Rule{Topic: up, Value: "objectJSON.temperatureSensor|object.temperatureSensor|objectJSON.temperature|object.temperature",
			Sensor: "{eui}", Time: "rxInfo[0].time"}},
		{"chirpstack3-cayenne", cs3, Rule{Topic: up, Value: "objectJSON.temperatureSensor.{ch}|object.temperatureSensor.{ch}",
			Sensor: "{eui}/{ch}", Time: "rxInfo[0].time"}},

		// settings.time comes from gateways and may be decades off: the server's time
		{"tts", things, Rule{Topic: ttsUp, Value: decoded + "temperature", Sensor: "{device}", Time: received}},
		{"tts-cayenne", things, Rule{Topic: ttsUp, Value: decoded + "temperature_{ch}", Sensor: "{device}/{ch}", Time: received}},
		{"tts-normalized", things, Rule{Topic: ttsUp, Each: "uplink_message.normalized_payload[*]", Value: "air.temperature", Sensor: "{device}",
			Time: "time|$.uplink_message.received_at|$.received_at"}},
		{"tts-milesight-channels", milesight, Rule{Topic: ttsUp, Value: decoded + "temperature_chn{ch}", Sensor: "{device}/{ch}", Time: received}},
		{"tts-milesight-history", milesight,
			Rule{Topic: ttsUp, Each: decoded + "history[*]", Value: "temperature", Sensor: "{device}", Time: "timestamp", TimeRequired: true}},
		{"tts-dragino", dragino, Rule{Topic: ttsUp, Value: decoded + "TempC_SHT", Sensor: "{device}/sht", Time: received, Reject: noProbe}},
		{"tts-dragino-probe", dragino, Rule{Topic: ttsUp, Value: decoded + "TempC_DS|" + decoded + "TempC_DS18B20|" + decoded + "TempC1",
			Sensor: "{device}/ds", Time: received, Reject: noProbe}},

		// decoded by a function of the console, or a driver
		{"helium", "https://docs.helium.com/console/integrations/json-schema",
			Rule{Topic: "helium/{id}/rx", Value: "decoded.payload.temperature", Sensor: "{dev_eui}", Time: "reported_at"}},
		{"thingpark", "https://docs.thingpark.com/thingpark-x/latest/Connector/MQTT/",
			Rule{Topic: "mqtt/things/{eui}/uplink", Value: "DevEUI_uplink.payload.temperature", Sensor: "{eui}", Time: "DevEUI_uplink.Time"}},

		{"sensecap", "https://wiki.seeedstudio.com/sensecraft-data-platform/api/data-openstream-api/data_openstream_api_reference",
			Rule{Topic: "/device_sensor_data/{org}/{eui}/{channel}/{reserved}/4097", Value: "value", Sensor: "{eui}/{channel}", Time: "timestamp"}},
	}
}
