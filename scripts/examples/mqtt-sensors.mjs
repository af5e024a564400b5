import { EMBEDDED, Flow, NODE_DEFAULTS, source } from './flow.mjs';

const INFO = `# MQTT sensors

Readings of ovens come over MQTT, each is scored by itself, and the prediction goes back to the broker under the reading's own topic: \`plant/<oven>/reading\` → \`plant/<oven>/quality\`.

Needs an MQTT broker, Mosquitto for example; its address is in the configuration node **Broker** (127.0.0.1:1883).

1. *Train* makes 300 past readings with their outcome and learns from them.
2. *Two readings* sends what two ovens would send. Leave this out where you have real ones.`;

/** Sensors' readings from a broker and predictions back to it. */
export function mqttSensors() {
  const flow = new Flow('MQTT sensors', INFO);
  const broker = flow.config('mqtt-broker', 'Broker', {
    broker: '127.0.0.1',
    port: '1883',
    clientid: '',
    autoConnect: true,
    usetls: false,
    protocolVersion: '4',
    keepalive: '60',
    cleansession: true,
  });
  const table = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: 'oven quality' };
  const mqttIn = (name, place, topic) =>
    flow.node('mqtt in', name, place, { topic, qos: '1', datatype: 'json', broker, inputs: 0 });
  const mqttOut = (name, place) =>
    flow.node('mqtt out', name, place, { topic: '', qos: '1', retain: 'false', broker });
  const button = (name, row) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      topic: name,
      props: [{ p: 'topic', vt: 'str' }],
    });
  const shown = (name, place, complete) =>
    flow.node('debug', name, place, { ...NODE_DEFAULTS.debug, complete, targetType: 'msg' });

  flow.comment('1. Learn from the past', [0, 0]);
  const train = button('Train', 1);
  const past = flow.node('function', 'ovens', [1, 1.5], {
    ...NODE_DEFAULTS.function,
    func: source('ovens.js'),
    outputs: 2,
  });
  const fit = flow.node('tabular-fit', 'quality?', [2.2, 1], { ...table, target: 'quality', task: 'auto' });
  const card = shown('model card', [3.4, 1], 'model');
  const send = button('Two readings', 2);
  const publish = mqttOut('send', [2.2, 2]);

  flow.comment('2. Score each reading as it comes', [0.2, 3.5]);
  const readings = mqttIn('readings', [0, 4.5], 'plant/+/reading');
  const predict = flow.node('tabular-predict', 'quality?', [1.1, 4.5], { ...table, property: 'quality' });
  const topic = flow.node('change', 'its own topic', [2.2, 4.5], {
    rules: [
      { t: 'change', p: 'topic', pt: 'msg', from: '/reading', fromt: 'str', to: '/quality', tot: 'str' },
    ],
  });
  const answer = mqttOut('predictions', [3.4, 4.5]);

  flow.comment('3. Whoever wants to know', [0.1, 6]);
  const arrived = mqttIn('predictions of all ovens', [0, 7], 'plant/+/quality');
  const result = shown('prediction', [1.4, 7], 'true');
  Object.assign(result, { targetType: 'full' });
  const caught = flow.node('catch', 'any error', [0, 8], { scope: null, uncaught: false });
  const errors = shown('error', [1.4, 8], 'error');
  flow.wire([train, send], past);
  flow.wireOutput(past, 0, fit);
  flow.wireOutput(past, 1, publish);
  flow.wire(fit, card);
  flow.wire(readings, predict, topic, answer);
  flow.wire(arrived, result);
  flow.wire(caught, errors);
  return flow;
}
