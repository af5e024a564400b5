import { BROKER, EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS } from './flow.mjs';

const STARTS = `Press Deploy. The past arrives at once and the model is fitted; then a forecast leaves with each new message. There is no function node after the simulated source: to use your own, wire its node to the *series* node in place of the simulator, and choose your column under *Column*.`;

const inject = (flow, name, topic, row, properties) =>
  flow.node('inject', name, [0, row], {
    ...NODE_DEFAULTS.inject,
    ...{ props: [{ p: 'topic', vt: 'str' }], topic, once: true },
    ...properties,
  });

/** What a simulator is pressed by: its past at start, then what is new, every few seconds. */
function buttons(flow, every) {
  return [
    inject(flow, 'past', 'past', 1, {}),
    inject(flow, `every ${every} s`, 'now', 2, { repeat: `${every}`, onceDelay: 5 }),
  ];
}

/** From readings to a forecast and a model. @param y row of the grid */
function forecast(flow, name, y, settings, answer = {}) {
  const model = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: name };
  const rows = flow.node('tabular-series', name, [2.6, y], { ...SERIES_DEFAULTS, ...settings });
  const predict = flow.node('tabular-predict', `${name}?`, [4, y], {
    ...model,
    ...{
      property: 'forecast',
      outputType: 'quantiles',
      quantiles: '0.1,0.5,0.9',
      noModel: 'wait',
      flat: 'on',
    },
    ...answer,
  });
  const fit = flow.node('tabular-fit', name, [4, y + 1], { ...model, task: 'auto' });
  const slow = flow.node('delay', `${name}: 1 a second`, [5.2, y], {
    ...NODE_DEFAULTS.delay,
    pauseType: 'rate',
    drop: true,
  });
  const shown = flow.debug(`forecast: ${name}`, [6.3, y], 'payload');
  const card = flow.debug(`model: ${name}`, [5.2, y + 1], 'model');
  flow.wireOutput(rows, 0, predict);
  flow.wireOutput(rows, 2, fit);
  flow.wire(predict, slow, shown);
  flow.wire(fit, card);
  return { rows, predict };
}

/** State changes of Home Assistant and their history. */
export function homeAssistant() {
  const flow = new Flow(
    'From Home Assistant',
    `# From Home Assistant

State changes as the node *events: state* sends them, and their past as *get history* answers it, become the temperature of the living room in half an hour. Each entity is a column; \`unavailable\` and \`unknown\` are missing.

${STARTS}

The messages have the shape of [node-red-contrib-home-assistant-websocket](https://zachowj.github.io/node-red-contrib-home-assistant-websocket/). For your own: *get history* (one entity or several, *Entity ID*: a list or a regular expression) behind an inject node that fires once, and *events: state* for the same entities.`,
  );
  flow.comment('1. Home Assistant (simulated): history and changes', [0.5, 0]);
  const source = flow.code('House', [1.3, 1.5], 'source-home-assistant.js');
  flow.wire(buttons(flow, 10), source);
  flow.comment('2. Each entity a column, half an hour ahead', [2.9, 0]);
  const { rows } = forecast(flow, 'living room', 1.5, {
    column: 'sensor.living_room_temperature',
    ahead: '30m',
    windows: '1h, 1d',
    every: '10m',
  });
  flow.wire(source, rows);
  flow.errors([0, 4], { beside: 1.3 });
  return flow;
}

/** Tasmota, Shelly and Zigbee2MQTT. */
export function mqttDevices() {
  const flow = new Flow(
    'From MQTT devices',
    `# From MQTT devices

What Tasmota, Shelly (Gen2 and later) and Zigbee2MQTT publish becomes a forecast of each device. Nothing is filled in for Tasmota and Shelly but the column; for Zigbee2MQTT the key is in the topic: \`zigbee2mqtt/+\`.

${STARTS} Here these are the three *mqtt in* nodes below: enable them (double-click, *Enabled*) and set the address in **Broker**.

Sources: [Tasmota](https://tasmota.github.io/docs/MQTT/), [Shelly](https://shelly-api-docs.shelly.cloud/gen2/General/Notifications), [Zigbee2MQTT](https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html).`,
  );
  flow.comment('1. Three devices (simulated)', [0.2, 0]);
  const source = flow.code('Devices', [1.3, 1.5], 'source-mqtt-devices.js', { outputs: 3 });
  flow.wire(buttons(flow, 10), source);
  flow.comment('2. A forecast for each device', [2.5, 0]);
  const about = { ahead: '10m', windows: '10m, 1h', every: '1m' };
  const all = [
    forecast(flow, 'Tasmota power', 1, { ...about, column: 'ENERGY.Power' }),
    forecast(flow, 'Shelly power', 3, { ...about, column: 'switch:0.apower' }),
    forecast(flow, 'greenhouse', 5, {
      ...about,
      key: 'zigbee2mqtt/+',
      keyType: 'topic',
      column: 'temperature',
    }),
  ];
  const broker = flow.config('mqtt-broker', 'Broker', BROKER);
  flow.comment('Your own devices: enable these', [0.2, 4.5]);
  for (const [i, [name, topic]] of [
    ['Tasmota', 'tele/+/SENSOR'],
    ['Shelly', '+/events/rpc'],
    ['Zigbee2MQTT', 'zigbee2mqtt/+'],
  ].entries()) {
    flow.wireOutput(source, i, all[i].rows);
    const node = flow.node('mqtt in', name, [1, 5.4 + 0.9 * i], {
      ...{ topic, qos: '1', datatype: 'auto-detect', broker, inputs: 0, d: true },
    });
    flow.wire(node, all[i].rows);
  }
  flow.errors([0, 8.2], { beside: 1.3 });
  return flow;
}

/** Values of OPC UA nodes and registers of Modbus. */
export function opcUaAndModbus() {
  const flow = new Flow(
    'From OPC UA and Modbus',
    `# From OPC UA and Modbus

Values of an OPC UA subscription, each a message of its own, and the registers of a Modbus device, a list without names, become two forecasts. Of OPC UA each node is a column (\`Line1/Motor1/Temperature\`), with the time of its source; a value that is not good is missing. Of Modbus *Names of list values* (Advanced) names the registers.

${STARTS}

The messages have the shape of [node-red-contrib-opcua](https://github.com/mikakaraila/node-red-contrib-opcua) (action *subscribe*) and of [node-red-contrib-modbus](https://github.com/BiancoRoyal/node-red-contrib-modbus) (*Modbus-Read*).`,
  );
  flow.comment('1. A motor and a pump (simulated)', [0.3, 0]);
  const source = flow.code('Machines', [1.3, 1.5], 'source-opc-ua-modbus.js', { outputs: 2 });
  flow.wire(buttons(flow, 10), source);
  flow.comment('2. A forecast for each', [2.5, 0]);
  const about = { ahead: '10m', windows: '10m, 1h', every: '1m' };
  const motor = forecast(flow, 'motor temperature', 1, { ...about, column: 'Line1/Motor1/Temperature' });
  const pump = forecast(flow, 'pump flow', 3, { ...about, column: 'flow', names: 'pressure, flow, running' });
  flow.wireOutput(source, 0, motor.rows);
  flow.wireOutput(source, 1, pump.rows);
  flow.errors([0, 5], { beside: 1.3 });
  return flow;
}

/** Rows of a Flux query in, points with the forecast out. */
export function influxdb() {
  const flow = new Flow(
    'InfluxDB in and out',
    `# InfluxDB in and out

The rows of a Flux query, one per field and time, become the vibration of each machine in ten minutes; the forecast leaves as points that can be written back. The tag \`machine\` is the key, the fields are columns.

${STARTS}

The messages have the shape of [node-red-contrib-influxdb](https://github.com/mblackstock/node-red-contrib-influxdb) with InfluxDB 2. For your own: an *influxdb in* node behind each inject node, the first with \`range(start: -7d)\`, the second with \`range(start: -1m)\`, and an *influxdb batch* node in place of *points*.`,
  );
  flow.comment('1. Answers of Flux queries (simulated)', [0.3, 0]);
  const source = flow.code('InfluxDB', [1.3, 1.5], 'source-influxdb.js');
  flow.wire(buttons(flow, 60), source);
  flow.comment('2. Ten minutes ahead, for each machine', [2.7, 0]);
  const { rows, predict } = forecast(flow, 'vibration', 1.5, {
    ...{ key: 'machine', column: 'vibration', ahead: '10m', windows: '10m, 1h' },
  });
  flow.wire(source, rows);
  flow.comment('3. Points to write', [5.5, 3.5]);
  const points = flow.node('change', 'points', [5.2, 4.7], {
    rules: [
      {
        ...{ t: 'set', p: 'payload', pt: 'msg', tot: 'jsonata' },
        to: '[$zip([payload], [series]).{"measurement": "motor_forecast", "tags": {"machine": $[1].key}, "fields": {"vibration_low": $[0].forecast_low, "vibration_mid": $[0].forecast_mid, "vibration_high": $[0].forecast_high}, "timestamp": $[0].forecast_time}]',
      },
    ],
  });
  const written = flow.debug('to influxdb batch', [6.3, 4.7], 'payload');
  flow.wire(predict, points, written);
  flow.errors([0, 4], { beside: 1.3 });
  return flow;
}

/** Uplinks of The Things Stack and ChirpStack. */
export function loraWan() {
  const flow = new Flow(
    'From LoRaWAN',
    `# From LoRaWAN

Uplinks of soil sensors, by The Things Stack and by ChirpStack, become the moisture of each field in six hours. The key is the device, the columns are those of the decoded payload: a payload formatter must be set for the device.

${STARTS} Here it is an *mqtt in* node: enable the one below (double-click, *Enabled*), and set the address, user and key of your network in **Network**.

Sources: [The Things Stack](https://www.thethingsindustries.com/docs/integrations/other-integrations/mqtt/), [ChirpStack](https://www.chirpstack.io/docs/chirpstack/integrations/mqtt.html) (topic \`application/+/device/+/event/up\`).`,
  );
  flow.comment('1. Two soil sensors (simulated)', [0.3, 0]);
  const source = flow.code('Fields', [1.3, 1.5], 'source-lorawan.js');
  flow.wire(buttons(flow, 30), source);
  flow.comment('2. Six hours ahead, for each device', [2.7, 0]);
  const { rows } = forecast(flow, 'soil moisture', 1.5, {
    ...{ column: 'soil_moisture', ahead: '6h', windows: '6h, 1d', every: '1h' },
  });
  flow.wire(source, rows);
  const broker = flow.config('mqtt-broker', 'Network', { ...BROKER, broker: 'eu1.cloud.thethings.network' });
  flow.comment('Your own devices: enable this', [0.2, 3.5]);
  const uplinks = flow.node('mqtt in', 'uplinks', [1.6, 3.5], {
    ...{ topic: 'v3/+/devices/+/up', qos: '0', datatype: 'auto-detect', broker, inputs: 0, d: true },
  });
  flow.wire(uplinks, rows);
  flow.errors([0, 5.7], { beside: 1.3 });
  return flow;
}

/** A plan of prices and weather for the hours to come. */
export function pricesAndWeather() {
  const flow = new Flow(
    'Prices and a weather plan',
    `# Prices and a weather plan

The energy that a house needs in each of the next 24 hours, by what is known of them: the prices as Tibber answers them and the weather as Open-Meteo forecasts it. Both are plans, as they come: their columns stand under *Known ahead*, the rows of the meter do not need them.

${STARTS}

For your own: an *http request* node for \`https://api.open-meteo.com/v1/forecast?latitude=52.52&longitude=13.42&hourly=temperature_2m,cloud_cover\` in place of *weather* ([its page](https://open-meteo.com/en/docs)), and the prices of your supplier: [Tibber](https://developer.tibber.com/docs/reference#priceinfo), aWATTar, Octopus, Nord Pool in Home Assistant or power-saver.`,
  );
  flow.comment('1. Meter, prices and weather (simulated)', [0.4, 0]);
  const source = flow.code('House', [1.4, 2.5], 'source-prices-weather.js');
  const every = { repeat: '3600' };
  flow.wire(
    [
      inject(flow, 'past', 'past', 1, {}),
      inject(flow, 'prices', 'prices', 2, { ...every, onceDelay: 1 }),
      inject(flow, 'weather', 'weather', 3, { ...every, onceDelay: 1 }),
      inject(flow, 'meter', 'meter', 4, { ...every, onceDelay: 2 }),
    ],
    source,
  );
  flow.comment('2. 24 rows an hour, with what is known of each', [2.9, 0]);
  const { rows } = forecast(flow, 'energy of a day', 2.5, {
    ...{ column: 'load_kwh', ahead: '1h..24h', windows: '3h, 1d', keep: 3000 },
    knownAhead: 'total, temperature_2m, cloud_cover',
  });
  flow.wire(source, rows);
  flow.errors([0, 5.4], { beside: 1.4 });
  return flow;
}
