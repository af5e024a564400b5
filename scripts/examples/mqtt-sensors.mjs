import { BROKER, EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS } from './flow.mjs';

const INFO = `# MQTT sensors

Three ovens publish their sensor values, each on its own topic: \`plant/oven1/temperature\`. A *series* node combines the values of each oven and looks a minute ahead. The forecast for each oven goes back to the broker: \`forecast/oven1\`. There is no function node between the broker and the predictions.

Needs an MQTT broker such as Mosquitto. Its address is in the configuration node **Broker** (127.0.0.1:1883).

1. *Past* sends the readings of the last two hours as one table, as a database would: rows, outcomes and the train set leave at once. Without it, the first train set leaves at 200 outcomes.
2. *Every 10 s* publishes the values of the ovens. Remove it if you have real ones. *Publish* sends one round at once.`;

/** Sensors' values from a broker, a forecast for each machine back to it. */
export function mqttSensors() {
  const flow = new Flow('MQTT sensors', INFO);
  const broker = flow.config('mqtt-broker', 'Broker', BROKER);
  const model = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: 'oven temperature' };
  const mqttIn = (name, place, topic) =>
    flow.node('mqtt in', name, place, { topic, qos: '1', datatype: 'auto-detect', broker, inputs: 0 });
  const mqttOut = (name, place) =>
    flow.node('mqtt out', name, place, { topic: '', qos: '1', retain: 'false', broker });
  const button = (name, row, properties) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      props: [{ p: 'topic', vt: 'str' }],
      ...properties,
    });

  flow.comment('1. Three ovens (simulated)', [0.1, 0]);
  const past = button('Past', 1, { topic: 'past' });
  const tick = button('Every 10 s', 2, { topic: 'now', repeat: '10' });
  const now = button('Publish', 3, { topic: 'now' });
  const ovens = flow.code('Ovens', [1, 2], 'ovens.js', { outputs: 2 });
  const publish = mqttOut('publish', [2.2, 3]);

  flow.comment('2. From values to forecasts, for each oven', [2.6, 5]);
  const values = mqttIn('values', [0, 6], 'plant/+/+');
  const rows = flow.node('tabular-series', 'temperature in 1 min', [1.2, 6], {
    ...SERIES_DEFAULTS,
    key: 'oven',
    column: 'temperature',
    ahead: '1m',
    windows: '1m, 5m',
    every: '10s',
  });
  const predict = flow.node('tabular-predict', 'temperature in 1 min?', [2.6, 6], {
    ...model,
    property: 'forecast',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    noModel: 'wait',
  });
  const fit = flow.node('tabular-fit', 'oven temperature', [2.6, 7.5], { ...model, task: 'auto' });
  const card = flow.debug('model card', [3.9, 7.5], 'model');
  // The rows of the past come as one table, and need no answer.
  const live = flow.node('switch', 'of now', [3.6, 6], {
    property: 'series.key',
    propertyType: 'msg',
    rules: [{ t: 'nnull' }],
    checkall: 'true',
    repair: false,
    outputs: 1,
  });
  const topic = flow.node('change', 'its own topic', [4.5, 6], {
    rules: [{ t: 'set', p: 'topic', pt: 'msg', to: '"forecast/" & series.key', tot: 'jsonata' }],
  });
  const answer = mqttOut('forecasts', [5.5, 6]);

  flow.comment('3. Subscribers', [0.1, 9]);
  const arrived = mqttIn('forecasts of all ovens', [0, 10], 'forecast/+');
  const result = flow.debug('forecast', [1.4, 10], 'true', 'full');
  flow.errors([0, 11], { beside: 1.4 });
  flow.wire([past, tick, now], ovens);
  flow.wireOutput(ovens, 0, rows);
  flow.wireOutput(ovens, 1, publish);
  flow.wire(values, rows);
  flow.wireOutput(rows, 0, predict);
  flow.wireOutput(rows, 2, fit);
  flow.wire(predict, live, topic, answer);
  flow.wire(fit, card);
  flow.wire(arrived, result);
  return flow;
}
