import { BROKER, EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS, WATCH_DEFAULTS } from './flow.mjs';

const MODEL = 'motor heat';

const HUB_INFO = `# Fleet over MQTT, hub

Motors in many places, one model: how hot will the motor be in half a minute? Each machine predicts on its own computer, with the flow *Fleet over MQTT, machine*. This flow is for the hub: it collects the readings of all machines, fits the model, watches how good it is, and publishes it. There is no function node.

Needs an MQTT broker such as Mosquitto. Its address is in the configuration node **Broker** (127.0.0.1:1883).

1. Deploy this flow on one computer, and *Fleet over MQTT, machine* on each machine, or several times beside this one to try it.
2. The machines send their readings. The first ten minutes of a machine are enough for the first model, which is published on \`fleet/model\` as a retained message: a machine that comes later gets it from the broker.
3. Whatever was away, the broker, the hub or a machine, catches up by itself. What is guaranteed is in docs/fleet.md.`;

const MACHINE_INFO = `# Fleet over MQTT, machine

One motor of a fleet. It predicts its own temperature half a minute ahead on its own computer, with the model that the hub publishes, and goes on without a network. There is no function node after the simulated motor. *Fleet over MQTT, hub* is the other half.

Needs an MQTT broker such as Mosquitto. Its address is in the configuration node **Broker** (127.0.0.1:1883).

1. Double-click the tab: the environment variable \`MACHINE\` is the name of this machine. Each machine has its own.
2. Deploy. Rows wait until the broker has sent the first model; later models take over between two predictions.
3. The readings go to the hub. The newest ten minutes of them are remembered, and sent again when the broker or the hub is back: the hub takes each reading once, by its machine and time.`;

const broker = (flow, birth) => flow.config('mqtt-broker', 'Broker', { ...BROKER, ...birth });

/** How readings become rows: the same on every machine and at the hub. */
const ROWS = {
  ...SERIES_DEFAULTS,
  key: 'fleet/+/reading',
  keyType: 'topic',
  column: 'motor_c',
  ahead: '30s',
  windows: '30s, 2m',
};

const FORECAST = {
  config: EMBEDDED,
  table: 'payload',
  tableType: 'msg',
  model: MODEL,
  property: 'forecast',
  outputType: 'quantiles',
  quantiles: '0.1,0.5,0.9',
  noModel: 'wait',
  flat: 'on',
};

function mqttIn(flow, name, place, topic, datatype, brokerId) {
  return flow.node('mqtt in', name, place, { topic, qos: '1', datatype, broker: brokerId, inputs: 0 });
}

function mqttOut(flow, name, place, topic, retain, brokerId) {
  return flow.node('mqtt out', name, place, { topic, qos: '1', retain, broker: brokerId });
}

/** Two nodes that pass on a message each time this node is connected to its broker. Answers the first and the last. */
function whenConnected(flow, node, [x, y]) {
  const status = flow.node('status', 'its connection', [x, y], { scope: [node.id] });
  const connected = flow.node('switch', 'is there', [x + 1.1, y], {
    property: 'status.fill',
    propertyType: 'msg',
    rules: [{ t: 'eq', v: 'green', vt: 'str' }],
    checkall: 'true',
    repair: false,
    outputs: 1,
  });
  flow.wire(status, connected);
  return connected;
}

const isThere = (flow, name, place, property, propertyType, rule) =>
  flow.node('switch', name, place, {
    property,
    propertyType,
    rules: [{ t: rule }],
    checkall: 'true',
    repair: false,
    outputs: 1,
  });

const set = (p, to, tot = 'msg', pt = 'msg') => ({ t: 'set', p, pt, to, tot });

/** The hub: readings of all machines in, the model out. */
export function fleetHub() {
  const flow = new Flow('Fleet over MQTT, hub', HUB_INFO);
  // It tells the machines that it is there, so that they send what it may have missed.
  const brokerId = broker(flow, {
    birthTopic: 'fleet/hub',
    birthQos: '1',
    birthRetain: 'false',
    birthPayload: 'online',
    birthMsg: {},
  });

  flow.comment('1. Readings of all machines: rows, outcomes, train sets', [0.9, 0]);
  const readings = mqttIn(flow, 'readings', [0, 1.7], 'fleet/+/reading', 'auto-detect', brokerId);
  const rows = flow.node('tabular-series', 'heat in 30 s', [1.1, 1.7], { ...ROWS, train: '1000 rows' });

  flow.comment('2. How good is the model, on each machine?', [3.3, 0]);
  const predict = flow.node('tabular-predict', 'how hot?', [2.4, 0.9], FORECAST);
  const watch = flow.node('tabular-watch', 'still right?', [3.6, 1.8], {
    ...WATCH_DEFAULTS,
    config: EMBEDDED,
    model: MODEL,
    property: 'forecast',
    perKey: true,
  });
  const changes = flow.debug('changes', [4.8, 1.8], 'payload');
  // A message for each reading would push everything else out of the sidebar: switched on by its button.
  const forecasts = flow.node('debug', 'forecasts', [4.8, 0.9], { ...NODE_DEFAULTS.debug, active: false });

  flow.comment('3. A new model goes to every machine', [2.9, 3]);
  const fit = flow.node('tabular-fit', MODEL, [2.4, 4], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: MODEL,
    task: 'auto',
    // The model knows motors, not this motor or that: so it serves a new machine too.
    ignore: 'key',
    sendModel: 'on',
  });
  const comes = isThere(flow, 'with a model', [3.6, 4], 'model_file', 'msg', 'nnull');
  const file = flow.node('change', 'the model alone', [4.8, 4], { rules: [set('payload', 'model_file')] });
  const publish = mqttOut(flow, 'publish', [6, 4], 'fleet/model', 'true', brokerId);

  flow.comment('4. When the broker is back: the model once more, if it was fitted meanwhile', [1.2, 5.2]);
  const connected = whenConnected(flow, publish, [0, 6.2]);
  const again = flow.node('change', 'send it again', [2.3, 6.2], {
    rules: [set('send_model', 'again', 'str')],
  });

  flow.comment('5. Errors, by code', [0.1, 7.4]);
  flow.errors([0, 8.4], { beside: 1.1, status: true });

  flow.wire(readings, rows, predict, watch, forecasts);
  flow.wireOutput(rows, 1, watch);
  flow.wireOutput(rows, 2, fit);
  flow.wireOutput(watch, 1, changes, rows);
  flow.wire(fit, comes, file, publish);
  flow.wire(connected, again, flow.far('again', [3.2, 6.2], [1.5, 4], fit));
  return flow;
}

/** A machine: its own readings predicted with the model of the hub, and sent to it. */
export function fleetMachine() {
  const flow = new Flow('Fleet over MQTT, machine', MACHINE_INFO, [
    { name: 'MACHINE', value: 'motor1', type: 'str' },
  ]);
  const brokerId = broker(flow, {});

  flow.comment('1. The motor (simulated)', [0.1, 0]);
  const [start, tick] = flow.clock([{ p: 'topic', vt: 'str' }]);
  const motor = flow.code('Motor', [1.1, 1.5], 'fleet-motor.js');
  const named = flow.node('change', 'under its name', [2.2, 1.5], {
    rules: [set('topic', '"fleet/" & $env("MACHINE") & "/reading"', 'jsonata')],
  });

  flow.comment('2. Predictions on this computer, with the newest model that came', [3.9, 0]);
  const rows = flow.node('tabular-series', 'heat in 30 s', [3.4, 1], { ...ROWS, train: 'never' });
  const predict = flow.node('tabular-predict', 'how hot?', [4.6, 1], { ...FORECAST, takeModel: 'on' });
  // A message a second would push everything else out of the sidebar: switched on by its button.
  const forecast = flow.node('debug', 'forecast', [5.8, 1], {
    ...NODE_DEFAULTS.debug,
    active: false,
    tostatus: true,
    statusVal: 'payload[-1].motor_c & " °C, then " & $round(payload[-1].forecast_mid, 1) & " °C"',
    statusType: 'jsonata',
  });
  const hot = flow.node('switch', 'above 80 °C?', [5.8, 1.9], {
    property: 'payload[-1].forecast_high',
    propertyType: 'jsonata',
    rules: [{ t: 'gt', v: '80', vt: 'num' }],
    checkall: 'true',
    repair: false,
    outputs: 1,
  });
  const warning = flow.debug('slow down', [7, 1.9], 'payload[-1].forecast_high', 'jsonata');
  const models = mqttIn(flow, 'models', [2.2, 3], 'fleet/model', 'buffer', brokerId);
  const model = flow.node('change', 'a model, no rows', [3.4, 3], {
    rules: [{ t: 'move', p: 'payload', pt: 'msg', to: 'model_file', tot: 'msg' }],
  });

  flow.comment(
    '3. Readings to the hub; the newest ten minutes once more when the broker or the hub is back',
    [2, 4.2],
  );
  const remember = flow.node('change', 'remember ten minutes', [5.8, 5.2], {
    // A place for each of 600 seconds: what is older is written over by and by.
    rules: [
      set(
        'newest',
        '$merge([$flowContext("newest"), payload.{$string($floor(time / 1000) % 600): $}])',
        'jsonata',
        'flow',
      ),
    ],
  });
  const send = mqttOut(flow, 'send', [5.8, 6.2], '', 'false', brokerId);
  const connected = whenConnected(flow, send, [0, 6.2]);
  const hub = mqttIn(flow, 'hub is there', [1.1, 7.2], 'fleet/hub', 'auto-detect', brokerId);
  const some = isThere(flow, 'has some', [2.2, 6.2], 'newest', 'flow', 'nnull');
  const newest = flow.node('change', 'the newest ten minutes', [3.5, 6.2], {
    rules: [
      set('payload', '[$flowContext("newest").*[time > $millis() - 600000]]', 'jsonata'),
      set('topic', '"fleet/" & $env("MACHINE") & "/reading"', 'jsonata'),
    ],
  });

  flow.comment('4. Errors, by code', [0.1, 8.4]);
  flow.errors([0, 9.4], { beside: 1.1, status: true });

  flow.wire([start, tick], motor, named, [
    rows,
    flow.far('readings', [3, 2.1], [4.7, 5.2], [remember, send]),
  ]);
  flow.wire(rows, predict, [forecast, hot]);
  flow.wire(hot, warning);
  flow.wire(models, model, predict);
  flow.wire([connected, hub], some, newest, send);
  return flow;
}
