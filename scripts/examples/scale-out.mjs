import { BROKER, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Scale out over MQTT

Several Node-REDs share one stream of readings. Import this flow into each of them.

1. Start one service for all of them: \`npx -p node-red-contrib-tabular-prediction tabular-service --port 8765 --token s3cret --data ./tabular-data\`, or use a hosted one. Enter its address and token in **Shared service**.
2. You need an MQTT 5 broker such as Mosquitto 2. Its address is in **Broker**.
3. Press *Train* in one Node-RED. The model card is published as a retained message, so every other one gets it, now and after a restart.
4. Press *Readings*. Each reading goes to one of the Node-REDs (\`$share/scorers/…\`).

Press *Leave* in a Node-RED before you stop it. What is guaranteed, and what is not, is in docs/scale-out.md.`;

/** Readings of MQTT 5 shared by several Node-REDs. */
export function scaleOut() {
  const flow = new Flow('Scale out over MQTT', INFO);
  const service = flow.config('tabular-config', 'Shared service', {
    service: 'hosted',
    baseUrl: 'http://127.0.0.1:8765',
  });
  const broker = flow.config('mqtt-broker', 'Broker', {
    ...BROKER,
    protocolVersion: '5',
    autoUnsubscribe: true,
    birthTopic: '',
    birthQos: '0',
    birthPayload: '',
    birthMsg: {},
    closeTopic: '',
    closeQos: '0',
    closePayload: '',
    closeMsg: {},
    willTopic: '',
    willQos: '0',
    willPayload: '',
    willMsg: {},
    userProps: '',
    sessionExpiry: '',
  });
  const mqttIn = (name, place, topic) =>
    flow.node('mqtt in', name, place, {
      topic,
      qos: '1',
      datatype: 'json',
      broker,
      nl: false,
      rap: true,
      rh: 0,
      inputs: 0,
    });
  const mqttOut = (name, place, topic, retain = 'false') =>
    flow.node('mqtt out', name, place, {
      topic,
      qos: '1',
      retain,
      respTopic: '',
      contentType: '',
      userProps: '',
      correl: '',
      expiry: '',
      broker,
    });
  const code = (name, place, file, properties = {}) => flow.code(name, place, file, { ...properties });
  const button = (name, place) =>
    flow.node('inject', name, place, {
      ...NODE_DEFAULTS.inject,
      topic: name.toLowerCase(),
      props: [{ p: 'topic', vt: 'str' }],
    });

  flow.comment('1. Train, in one Node-RED', [0, 0]);
  const train = button('Train', [0, 1]);
  const table = code('table', [1, 1], 'machine-table.js');
  const fit = flow.node('tabular-fit', 'load', [2, 1], {
    config: service,
    table: 'payload',
    tableType: 'msg',
    target: 'load',
    ignore: '',
    types: '',
    task: 'classification',
    model: 'machine load',
  });
  const card = flow.node('change', 'its card', [3, 1], {
    rules: [{ t: 'set', p: 'payload', pt: 'msg', to: 'model', tot: 'msg' }],
  });
  const publish = mqttOut('hand the card over', [4, 1], 'machines/model', 'true');

  flow.comment('2. Score, in every Node-RED', [0, 2.5]);
  const cards = mqttIn('card', [0, 3.5], 'machines/model');
  const join = button('Join', [0, 4.5]);
  const leave = button('Leave', [0, 5.5]);
  const member = code('member', [1, 4.5], 'scale-out-member.js', {
    initialize: "context.set('member', true);\ncontext.set('subscribed', false);",
  });
  const readings = flow.node('mqtt in', 'my share of the readings', [2.2, 4.5], {
    topic: '',
    qos: '1',
    datatype: 'json',
    broker,
    nl: false,
    rap: true,
    rh: 0,
    inputs: 1,
  });
  const prepared = code('with its model', [3.4, 4.5], 'scale-out-reading.js');
  const predict = flow.node('tabular-predict', 'load', [4.4, 4.5], {
    config: service,
    table: 'payload',
    tableType: 'msg',
    model: '',
    property: 'load',
  });
  const result = code('result under its key', [5.4, 4.5], 'scale-out-result.js');
  const results = mqttOut('result', [6.4, 4.5], 'machines/results');
  const caught = flow.node('catch', 'not scored', [4.4, 5.5], { scope: [predict.id], uncaught: false });
  const failure = code('error under its key', [5.4, 5.5], 'scale-out-error.js');
  const errors = mqttOut('error', [6.4, 5.5], 'machines/errors');

  flow.comment('3. Readings, in one Node-RED', [0, 7]);
  const make = button('Readings', [0, 8]);
  const made = code('100 readings', [1, 8], 'machine-readings.js');
  const send = mqttOut('send', [2.2, 8], 'machines/readings');

  flow.comment('4. Results, written once per key', [0, 9.5]);
  const arrived = mqttIn('results', [0, 10.5], 'machines/results');
  const once = code('first of each key', [1.2, 10.5], 'first-of-key.js');
  const shown = flow.debug('result', [2.4, 10.5], 'payload');

  flow.wire(train, table, fit, card, publish);
  flow.wire([cards, join, leave], member, readings, prepared, predict, result, results);
  flow.wire(caught, failure, errors);
  flow.wire(make, made, send);
  flow.wire(arrived, once, shown);
  return flow;
}
