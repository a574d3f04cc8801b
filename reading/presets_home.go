package reading

// homePresets are devices with Wi-Fi or Ethernet of their own, and home automation that hands values on.
func homePresets() []Preset {
	const (
		tasmota = "https://tasmota.github.io/docs/MQTT/"
		gen1    = "https://shelly-api-docs.shelly.cloud/gen1"
		gen2    = "https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Temperature"
		homie   = "https://homieiot.github.io/specification/spec-core-"
		hass    = "https://www.home-assistant.io/integrations/mqtt_statestream/"
		wiren   = "https://github.com/wirenboard/conventions"
		dz      = "https://wiki.domoticz.com/MQTT"
		ecowitt = "https://github.com/mplogas/ecowitt-controller/blob/main/docs/api.md"
	)
	hotEnd := 400.0
	return []Preset{
		{"tasmota", tasmota, Rule{Topic: "tele/{device}/SENSOR", Each: "{probe}", Value: "Temperature", Sensor: "{device}/{Id|probe}",
			Unit: "$.TempUnit", Time: "$.Epoch|$.Time"}},
		// the answer to the command Status 10
		{"tasmota-status", tasmota, Rule{Topic: "stat/{device}/STATUS10", Each: "StatusSNS.{probe}", Value: "Temperature", Sensor: "{device}/{Id|probe}",
			Unit: "$.StatusSNS.TempUnit", Time: "$.StatusSNS.Epoch|$.StatusSNS.Time"}},
		// drivers without an object of their own, such as Sonoff SC
		{"tasmota-root", tasmota, Rule{Topic: "tele/{device}/SENSOR", Value: "Temperature", Sensor: "{device}", Unit: "TempUnit", Time: "Epoch|Time"}},
		{"tasmota-zigbee", "https://tasmota.github.io/docs/Zigbee/",
			Rule{Topic: "tele/{device}/SENSOR", Each: "ZbReceived.{addr}", Value: "Temperature", Sensor: "{device}/{Name|addr}"}},

		// the unit is that of the device's settings
		{"shelly-gen1", gen1, Rule{Topic: "shellies/{device}/sensor/temperature", Format: "text", Sensor: "{device}", Reject: []float64{999}}},
		{"shelly-gen1-probe", gen1, Rule{Topic: "shellies/{device}/ext_temperature/{ch}", Format: "text", Sensor: "{device}/{ch}", Reject: []float64{999}}},
		{"shelly-gen2", gen2, Rule{Topic: "{device}/events/rpc", Each: "params.temperature:{ch}", Value: "tC", Sensor: "{device}/{ch}", Time: "$.params.ts"}},
		{"shelly-gen2-status", gen2, Rule{Topic: "{device}/status/temperature:{ch}", Value: "tC", Sensor: "{device}/{ch}"}},

		// every sensor of a node has such a topic, of temperature or not
		{"esphome", "https://esphome.io/components/mqtt.html", Rule{Topic: "{node}/sensor/{probe}/state", Format: "text", Sensor: "{node}/{probe}"}},
		{"espeasy", "https://espeasy.readthedocs.io/en/latest/Controller/C005.html",
			Rule{Topic: "{unit}/{task}/Temperature", Format: "text", Sensor: "{unit}/{task}"}},
		{"homie", homie + "v4_0_0/", Rule{Topic: "homie/{device}/{node}/temperature", Format: "text", Sensor: "{device}/{node}"}},
		{"homie5", homie + "v5_0_0/", Rule{Topic: "homie/5/{device}/{node}/temperature", Format: "text", Sensor: "{device}/{node}"}},

		{"home-assistant", hass, Rule{Topic: "homeassistant/sensor/{entity}_temperature/state", Format: "text", Sensor: "{entity}_temperature"}},
		{"home-assistant-climate", hass, Rule{Topic: "homeassistant/climate/{entity}/current_temperature", Format: "text", Sensor: "{entity}"}},
		{"wirenboard", wiren, Rule{Topic: "/devices/{device}/controls/Temperature", Format: "text", Sensor: "{device}/Temperature"}},
		// 1-Wire: every control is a thermometer
		{"wirenboard-w1", wiren, Rule{Topic: "/devices/wb-w1/controls/{probe}", Format: "text", Sensor: "wb-w1/{probe}"}},

		// two thermistors make atmp; the compensated one is off unless it is asked for
		{"airgradient", "https://github.com/airgradienthq/arduino/blob/master/docs/local-server.md",
			Rule{Topic: "airgradient/readings/{serial}", Value: "atmp", Sensor: "{serial}"}},

		// one topic for everything: only types whose first value is a temperature
		{"domoticz", dz, Rule{Topic: "domoticz/out", Each: "[dtype=Temp]|[dtype=Temp + Humidity]|[dtype=Temp + Humidity + Baro]|[dtype=Temp + Baro]",
			Value: "svalue1", Sensor: "{idx}"}},
		{"domoticz-in", dz, Rule{Topic: "domoticz/in", Value: "svalue", Sensor: "{idx}"}},
		{"owntracks", "https://owntracks.org/booklet/tech/json/", Rule{Topic: "owntracks/{user}/{device}", Value: "temp", Sensor: "{user}/{device}", Time: "tst"}},

		// a form as for a weather service; tempin and temp1 to temp8, or the outdoor sensor
		{"ecowitt", ecowitt, Rule{Topic: "ecowitt/{station}", Format: "form", Value: "temp{ch}f", Unit: "F", Sensor: "{station}/{ch}", Time: "dateutc"}},
		{"ecowitt-outdoor", ecowitt, Rule{Topic: "ecowitt/{station}", Format: "form", Value: "tempf", Unit: "F", Sensor: "{station}/out", Time: "dateutc"}},
		// unit_system = METRIC; the default of the extension has Fahrenheit
		{"weewx-metric", "https://github.com/weewx/weewx/wiki/mqtt",
			Rule{Topic: "{station}/loop", Value: "outTemp_C", Sensor: "{station}/outTemp", Time: "dateTime"}},
		{"weewx", "https://github.com/weewx/weewx/wiki/mqtt",
			Rule{Topic: "{station}/loop", Value: "outTemp_F", Unit: "F", Sensor: "{station}/outTemp", Time: "dateTime"}},
		{"octoprint", "https://github.com/OctoPrint/OctoPrint-MQTT",
			Rule{Topic: "octoPrint/temperature/{heater}", Value: "actual", Sensor: "{heater}", Time: "_timestamp", Max: &hotEnd}},
	}
}
