import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

/** Not in devDependencies: tests run it where it is installed, or nodes of their own that work as it does. */
const AMQP_NODES = '@frankvdb/node-red-contrib-amqp';

const INFO = `# Nothing lost over AMQP

Readings wait in a queue of RabbitMQ, or of any other AMQP 0.9.1 broker. A reading is acknowledged when its result has been handed over, not when it is received: whatever is killed or disconnected in between, it comes again.

Needs the nodes \`${AMQP_NODES}\` (Manage palette → Install) and a broker. Its address, user and password are in **Broker** (\`guest\` and \`guest\` in a new RabbitMQ).

Import this flow into any number of Node-REDs, unchanged. Each fits the same model at its start.

1. *Readings*: 100 of them. Each ends as a file of its key in the folder \`RESULTS\` of the flow's environment.
2. *A wrong reading*: no repeat can mend it, so it ends in the queue \`readings.failed\`, with the reason.

A reading may be scored twice, and its result written twice: with the same name, so there is one. In earnest, write into a database with \`INSERT … ON CONFLICT (key) DO NOTHING\`. What is guaranteed is in docs/scale-out.md.`;

/** Until it is acknowledged, a message belongs to the consumer; so many may be under way in one Node-RED. */
const PREFETCH = '50';

/** A work queue over AMQP with acknowledgement by hand. */
export function amqp() {
  const flow = new Flow('Nothing lost over AMQP', INFO, [
    { name: 'RESULTS', value: 'amqp-results', type: 'str' },
  ]);
  flow.needs({ [AMQP_NODES]: '2.0.0' });
  const broker = flow.config('amqp-broker', 'Broker', {
    host: '127.0.0.1',
    port: '5672',
    vhost: '',
    tls: false,
    credsFromSettings: false,
  });
  const queue = (name, place, queueName, prefetch = PREFETCH) =>
    flow.node('amqp-in-manual-ack', name, place, {
      broker,
      prefetch,
      reconnectOnError: true,
      noAck: false,
      exchangeName: '',
      exchangeType: 'direct',
      exchangeRoutingKey: '',
      showExchangeConfiguration: false,
      autoCreateExchangeBindings: false,
      exchangeDurable: true,
      queueName,
      queueType: 'classic',
      queueExclusive: false,
      queueDurable: true,
      queueAutoDelete: false,
      autoCreateQueue: true,
      queueArguments: '{}',
      headers: '{}',
    });
  // Kept on disk by the broker, which confirms that before the node is done.
  const publish = (name, place, queueName) =>
    flow.node('amqp-out', name, place, {
      broker,
      reconnectOnError: true,
      exchangeName: '',
      exchangeType: 'direct',
      exchangeRoutingKey: queueName,
      exchangeRoutingKeyType: 'str',
      showExchangeConfiguration: false,
      autoCreateExchangeBindings: false,
      exchangeDurable: true,
      amqpProperties: '{"deliveryMode":2}',
      waitForConfirms: true,
      rpcTimeoutMilliseconds: 3000,
      outputs: 0,
    });
  const set = (p, to, tot = 'msg') => ({ t: 'set', p, pt: 'msg', to, tot });
  const change = (name, place, ...rules) => flow.node('change', name, place, { rules });
  const complete = (name, place, ...nodes) =>
    flow.node('complete', name, place, { scope: nodes.map(({ id }) => id), uncaught: false });
  const caught = (name, place, ...nodes) =>
    flow.node('catch', name, place, { scope: nodes.map(({ id }) => id), uncaught: false });
  const putBack = (name, place) =>
    change(name, place, set('manualAck', '{"ackMode":"nack","requeue":true}', 'json'));
  const button = (name, place, properties) =>
    flow.node('inject', name, place, {
      ...NODE_DEFAULTS.inject,
      props: [{ p: 'payload' }],
      ...properties,
    });

  flow.comment('1. The model: each Node-RED fits the same at its start', [0, 0]);
  const start = button('at the start', [0, 1], { once: true, onceDelay: 0.5 });
  const table = flow.code('table', [1, 1], 'machine-table.js');
  const fit = flow.node('tabular-fit', 'load', [2, 1], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    target: 'load',
    model: 'machine load over AMQP',
  });
  const card = flow.debug('model card', [3, 1], 'model');

  flow.comment('2. Score, and acknowledge what was handed over', [0, 2.5]);
  const readings = queue('readings', [0.9, 3.5], 'readings');
  const unpacked = change(
    'its key and values',
    [2.1, 3.5],
    set('key', 'payload.key'),
    set('payload', 'payload.values'),
    { t: 'delete', p: 'properties', pt: 'msg' },
    { t: 'delete', p: 'content', pt: 'msg' },
  );
  const predict = flow.node('tabular-predict', 'load', [3.3, 3.5], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'machine load over AMQP',
    noModel: 'wait',
    property: 'load',
  });
  const result = change(
    'result under its key',
    [4.4, 3.5],
    set(
      'payload',
      '{ "key": key, "load": payload.load, "probability": $lookup(payload.load_probabilities, payload.load) }',
      'jsonata',
    ),
  );
  const results = publish('results', [5.6, 3.5], 'results');

  const unscored = caught('not scored', [0, 5], predict);
  const which = flow.node('switch', 'would a repeat help?', [1.2, 5], {
    property: 'error.code',
    propertyType: 'msg',
    rules: [
      {
        t: 'regex',
        v: '^(table\\.|columns\\.|target\\.|validation\\.failed|limit\\.exceeded|internal)',
        vt: 'str',
        case: false,
      },
      { t: 'else' },
    ],
    checkall: 'false',
    repair: false,
    outputs: 2,
  });
  const reason = change(
    'no: the reason with it',
    [2.7, 4.6],
    set(
      'payload',
      '{ "key": key, "values": payload, "code": error.code, "message": error.message }',
      'jsonata',
    ),
  );
  const failures = publish('readings.failed', [4.1, 4.6], 'readings.failed');
  const later = flow.delay('yes: in 5 s', [2.7, 5.4], 5);
  const back = putBack('back into the queue', [4.1, 5.4]);
  const unsent = caught('not handed over', [0, 6.2], results, failures);
  const sent = complete('handed over', [0, 7], results, failures);

  flow.comment('3. Write: one file of each key', [0, 8.2]);
  const arrived = queue('results', [0.9, 9.2], 'results');
  const named = change(
    'file of its key',
    [2.1, 9.2],
    set('filename', '$env("RESULTS") & "/" & $encodeUrlComponent(payload.key) & ".json"', 'jsonata'),
  );
  const file = flow.node('file', 'write', [3.3, 9.2], {
    filename: 'filename',
    filenameType: 'msg',
    appendNewline: false,
    createDir: true,
    overwriteFile: 'true',
    encoding: 'none',
  });
  const shown = flow.debug('written', [4.4, 9.2], 'payload');
  const written = complete('written', [0, 10], file);
  const unwritten = caught('not written', [0, 10.8], file);
  const laterWritten = flow.delay('again in 5 s', [1.5, 10.8], 5);
  const backWritten = putBack('back into results', [2.9, 10.8]);

  flow.comment('4. What failed stays in readings.failed; the oldest is shown', [0, 12]);
  const failed = queue('readings.failed', [0.3, 13], 'readings.failed', '1');
  const shownFailed = flow.debug('failed', [1.6, 13], 'payload');

  flow.comment('5. Readings', [0, 14.2]);
  const make = button('Readings', [0, 15.2], {});
  const made = flow.code('100 readings', [1.1, 15.2], 'machine-readings.js');
  const wrong = button('A wrong reading', [0, 16.3], {
    payload: JSON.stringify({
      key: 'wrong/1',
      values: { temperature: 'hot', vibration: 1, material: 'oak' },
    }),
    payloadType: 'json',
  });
  const send = publish('readings', [2.6, 15.6], 'readings');

  flow.wire(start, table, fit, card);
  flow.wire(readings, unpacked, predict, result, results);
  flow.wire(unscored, which);
  flow.wireOutput(which, 0, reason);
  flow.wireOutput(which, 1, later);
  flow.wire(reason, failures);
  flow.wire(unsent, later, back, flow.far('back', [5.2, 5.4], [0, 3.2], readings));
  flow.wire(sent, flow.far('handed over', [1, 7], [0, 3.8], readings));
  flow.wire(arrived, named, file, shown);
  flow.wire(written, arrived);
  flow.wire(unwritten, laterWritten, backWritten, flow.far('back again', [4, 10.8], [0, 9.2], arrived));
  flow.wire(failed, shownFailed);
  flow.wire(make, made, send);
  flow.wire(wrong, send);
  return flow;
}
