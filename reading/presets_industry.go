package reading

// industryPresets are gateways and clouds of industry.
func industryPresets() []Preset {
	const (
		neuron    = "https://docs.emqx.com/en/neuron/v2.10/configuration/north-apps/mqtt/api.html"
		publisher = "https://azure.github.io/Industrial-IoT/opc-publisher/messageformats.html"
		sparkplug = "https://github.com/eclipse-sparkplug/sparkplug/blob/master/specification/src/main/asciidoc/chapters/Sparkplug_6_Payloads.adoc"
	)
	return []Preset{
		{"victron", "https://github.com/victronenergy/dbus-mqtt",
			Rule{Topic: "N/{portal}/temperature/{instance}/Temperature", Value: "value", Sensor: "{portal}/{instance}"}},
		{"advantech-wise", "https://www.digikey.no/htmldatasheets/production/3082294/0/0/1/adam-6266-b.html",
			Rule{Topic: "Advantech/{mac}/data", Value: "ai{ch}", Sensor: "{mac}/ai{ch}", Time: "t", Reject: []float64{9999.9999}}},
		{"king-pigeon", "https://bliiot.com/article/data-acquisition-gateway-i00140i1.html", Rule{Each: "sensorDatas[flag=TEMP]", Value: "value", Time: "$.time"}},
		// the shape of D, and so value and scale, are the user's
		{"teltonika", "https://wiki.teltonika-gps.com/view/Template:Networking_rutXxx_manual_data_to_server", Rule{Value: "D[0]", Sensor: "{MAC}", Time: "TS"}},
		// GEOJSON; value is the name of the user's column
		{"campbell", "https://help.campbellsci.com/datalogger-api/mqtt/json_data_formats.html",
			Rule{Topic: "cs/v2/data/{logger...}/{table}", Each: "properties.observations.{ts}", ColumnsPath: "properties.observationNames",
				Value: "AirTC_Avg|AirTC", Sensor: "{logger}", Time: "{ts}"}},
		// each names the ids of temperatures: vals[id=101]
		{"siemens-industrial-edge", "https://developer.siemens.com/industrial-edge/databus/overview.html",
			Rule{Topic: "ie/d/j/simatic/v1/{app}/dp/r/{connection}/{collection}", Value: "val", Sensor: "{connection}/{id}", Time: "ts"}},
		{"neuron", neuron, Rule{Topic: "/neuron/{app}/{driver}/{group}", Each: "tags[*]", Value: "value", Sensor: "{driver}/{name}", Time: "$.timestamp"}},
		{"neuron-values", neuron, Rule{Topic: "/neuron/{app}/{driver}/{group}", Value: "values.{tag}", Sensor: "{driver}/{tag}", Time: "timestamp"}},
		{"opc-ua", publisher,
			Rule{Each: "Messages[*].Payload.{tag}", Value: "Value", Sensor: "{tag}", Time: "SourceTimestamp"}},
		// messages of single items, alone or in a list; the topic is the user's
		{"opc-ua-samples", publisher, Rule{Each: "[*]|$", Value: "Value.Value", Sensor: "{DisplayName|NodeId}", Time: "Value.SourceTimestamp|Timestamp"}},
		// the standard template; each names the tags of temperatures: values[id=Hall.PLC1.Temp][q=true]
		{"kepware", "https://www.readkong.com/page/iot-gateway-6316520",
			Rule{Topic: "iotgateway", Each: "values[q=true]", Value: "v", Sensor: "{id}", Time: "t"}},
		{"flespi", "https://flespi.com/kb/messages-basic-information-units",
			Rule{Topic: "flespi/message/gw/devices/{device}", Value: `ble\.sensor\.temperature\.1`, Sensor: "{ident}/1", Time: "timestamp"}},
		{"edgex", "https://docs.edgexfoundry.org/latest/microservices/core/data/details/DataModels/",
			Rule{Each: "readings[resourceName=Temperature]", Value: "value", Sensor: "{deviceName}", Time: "origin"}},
		{"kura", "https://github.com/eclipse-kapua/kapua/wiki/K-Payload-JSON-Format", Rule{Value: "metrics.temperature", Time: "sentOn"}},
		{"aws-shadow", "https://docs.aws.amazon.com/iot/latest/developerguide/device-shadow-mqtt.html",
			Rule{Topic: "$aws/things/{thing}/shadow/update/accepted", Value: "state.reported.temperature", Sensor: "{thing}",
				Time: "metadata.reported.temperature.timestamp|timestamp"}},

		// each names the metrics of temperatures: metrics[name=Inputs/Temp1]
		{"sparkplug-b", sparkplug, Rule{Topic: "spBv1.0/{group}/{type}/{edge}/{device}", Format: "sparkplug", Value: "value",
			Sensor: "{edge}/{device}/{name}", Time: "timestamp|$.timestamp"}},
		{"sparkplug-b-node", sparkplug, Rule{Topic: "spBv1.0/{group}/{type}/{edge}", Format: "sparkplug", Value: "value",
			Sensor: "{edge}/{name}", Time: "timestamp|$.timestamp"}},
	}
}
