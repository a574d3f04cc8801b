package reading

// softwarePresets are programs that people write, and formats that many programs share. Most leave the topic to the user.
func softwarePresets() []Preset {
	const (
		mqttOut = "https://docs.influxdata.com/telegraf/v1/output-plugins/mqtt/"
		formats = "https://docs.influxdata.com/telegraf/v1/data_formats/output/"
		tb      = "https://thingsboard.io/docs/reference/"
		kotori  = "https://getkotori.org/docs/handbook/acquisition/protocol/mqtt.html"
		metric  = "telegraf/{host}/{meas}"
		who     = "{tags.source|tags.host|host}"
	)
	return []Preset{
		{"telegraf", mqttOut, Rule{Topic: metric, Format: "influx", Value: "fields.temperature", Sensor: who, Time: "timestamp", TimeFormat: "unix_ns"}},
		{"telegraf-json", formats + "json/", Rule{Topic: metric, Each: "metrics[*]|$", Value: "fields.temperature", Sensor: who, Time: "timestamp"}},
		{"telegraf-msgpack", formats + "messagepack/", Rule{Topic: metric, Format: "msgpack", Value: "fields.temperature", Sensor: who, Time: "time"}},
		// layout = "field"
		{"telegraf-field", mqttOut, Rule{Topic: "telegraf/{meas}/{source}/temperature", Format: "text", Sensor: "{source}"}},
		// the columns are those of the user's metrics
		{"telegraf-csv", formats + "csv/", Rule{Topic: metric, Format: "csv", Columns: []string{"time", "name", "source", "value"},
			Value: "value", Sensor: "{source}", Time: "time"}},
		{"influx", "https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/",
			Rule{Format: "influx", Value: "fields.temperature|fields.value", Time: "timestamp", TimeFormat: "unix_ns"}},

		{"senml", "https://www.rfc-editor.org/rfc/rfc8428", Rule{Format: "senml", Value: "v", Sensor: "{n}", Unit: "u", Time: "t"}},
		{"text", "https://www.home-assistant.io/integrations/sensor.mqtt/", Rule{Format: "text"}},
		{"csv", "https://www.rfc-editor.org/rfc/rfc4180", Rule{Format: "csv", Columns: []string{"sensor", "time", "value"},
			Value: "value", Sensor: "{sensor}", Time: "time"}},
		{"json", "https://www.rfc-editor.org/rfc/rfc8259", Rule{Value: "temperature|temp|value", Time: "timestamp|time|ts"}},
		{"node-red", "https://nodered.org/docs/user-guide/messages", Rule{Value: "temperature|payload.temperature"}},
		{"cloudevents", "https://github.com/cloudevents/spec/blob/main/cloudevents/formats/json-format.md",
			Rule{Value: "data.temperature|data.celsius", Sensor: "{subject|source}", Time: "time"}},

		// a device does not say who it is: the user gives the sensor
		{"thingsboard", tb + "mqtt-api/", Rule{Topic: "v1/devices/me/telemetry", Each: "[*]|$", Value: "values.temperature|temperature", Time: "ts"}},
		{"thingsboard-gateway", tb + "gateway-mqtt-api/",
			Rule{Topic: "v1/gateway/telemetry", Each: "{device}[*]", Value: "values.temperature", Sensor: "{device}", Time: "ts"}},
		{"thingspeak", "https://www.mathworks.com/help/thingspeak/publishtoachannelfeed.html",
			Rule{Topic: "channels/{channel}/publish", Format: "form", Value: "field1", Sensor: "{channel}/field1", Time: "created_at"}},
		{"kotori", kotori, Rule{Topic: "{realm}/{network}/{gateway}/{node}/data.json", Value: "temperature", Sensor: "{network}/{gateway}/{node}", Time: "time"}},
		// readings by their time
		{"kotori-batch", kotori, Rule{Topic: "{realm}/{network}/{gateway}/{node}/data.json", Each: "{ts}", Value: "temperature",
			Sensor: "{network}/{gateway}/{node}", Time: "{ts}"}},
	}
}
