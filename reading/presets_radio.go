package reading

// radioPresets are bridges of short-range radio.
func radioPresets() []Preset {
	const (
		z2m   = "https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html"
		omg   = "https://docs.openmqttgateway.com/use/ble.html"
		heard = "unixtime|UTCtime" // of OpenMQTTGateway, where its build has them
		rtl   = "https://github.com/merbanan/rtl_433/blob/master/docs/OPERATION.md"
		zwave = "https://zwave-js.github.io/zwave-js-ui/#/guide/mqtt"
	)
	grill := 400.0
	return []Preset{
		{"zigbee2mqtt", z2m, Rule{Topic: "zigbee2mqtt/{device...}", Value: "temperature|local_temperature", Sensor: "{device}", Time: "last_seen"}},
		// advanced.output = attribute
		{"zigbee2mqtt-attribute", z2m, Rule{Topic: "zigbee2mqtt/{device...}/temperature", Format: "text", Sensor: "{device}"}},

		// raw advertisements in hex, or decoded by the gateway
		{"ruuvi", "https://github.com/ruuvi/docs/blob/master/data-formats/README.md",
			Rule{Topic: "ruuvi/{gw}/{tag}", Format: "ruuvi", Value: "temperature", Sensor: "{tag}", Time: "ts|gwts"}},

		// OpenMQTTGateway and Theengs Gateway; tempf is the same reading
		{"openmqttgateway-ble", omg, Rule{Topic: "home/{gw}/BTtoMQTT/{mac}", Value: "tempc", Sensor: "{mac}", Time: heard}},
		{"openmqttgateway-ble-probes", omg, Rule{Topic: "home/{gw}/BTtoMQTT/{mac}", Value: "tempc{n}", Sensor: "{mac}/{n}", Time: heard, Max: &grill}},
		{"openmqttgateway-ds1820", "https://docs.openmqttgateway.com/use/sensors.html",
			Rule{Topic: "home/{gw}/CLIMAtoMQTT/ds1820/{addr}", Value: "temp", Sensor: "{addr}", Unit: "unit", Time: heard}},

		{"openmqttgateway-rtl_433", "https://docs.openmqttgateway.com/use/rf.html",
			Rule{Topic: "home/{gw}/RTL_433toMQTT/{device...}", Value: "temperature_C", Sensor: "{model}/{channel|id}/{id}", Time: heard}},

		// many models have no channel: their id is there twice
		{"rtl_433", rtl, Rule{Topic: "rtl_433/{host}/events", Value: "temperature_C", Sensor: "{model}/{channel|id}/{id}", Time: "time"}},
		{"rtl_433-fahrenheit", rtl,
			Rule{Topic: "rtl_433/{host}/events", Value: "temperature_F", Unit: "F", Sensor: "{model}/{channel|id}/{id}", Time: "time"}},
		{"rtl_433-devices", rtl, Rule{Topic: "rtl_433/{host}/devices/{device...}/temperature_C", Format: "text", Sensor: "{device}"}},

		// named topics, payload "JSON time and value" or "entire value object"
		{"zwave-js-ui", zwave, Rule{Topic: "zwave/{node...}/49/{endpoint}/Air_temperature", Value: "value", Sensor: "{node}/{endpoint}",
			Time: "time|lastUpdate", Unit: "unit"}},
		// payload "just value"
		{"zwave-js-ui-plain", zwave, Rule{Topic: "zwave/{node...}/49/{endpoint}/Air_temperature", Format: "text", Sensor: "{node}/{endpoint}"}},

		// the root topic may have several levels
		{"meshtastic", "https://meshtastic.org/docs/software/integrations/mqtt/",
			Rule{Topic: "msh/{region...}/2/json/{channel}/{gateway}", Value: "payload.temperature", Sensor: "{from}", Time: "timestamp"}},
		{"mysensors", "https://www.mysensors.org/download/serial_api_20",
			Rule{Topic: "mygateway1-out/{node}/{child}/1/0/0", Format: "text", Sensor: "{node}/{child}"}},
		{"homematic", "https://github.com/hobbyquaker/hm2mqtt.js",
			Rule{Topic: "hm/status/{device}/ACTUAL_TEMPERATURE", Value: "val", Sensor: "{device}", Time: "ts"}},
	}
}
