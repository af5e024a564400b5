/*
 * A numbered stream inside Node-RED. `stream-source` sends rows {id, x}, never more than a window at a time;
 * `stream-sink` checks what arrives. What was sent is remembered by the module, so it outlives redeploys.
 * With `watch`, Node-RED's hooks also tell what each tabular-predict node took, sent and completed, which counts
 * where a redeploy cuts: Node-RED drops the errors of a flow that is being stopped.
 */
const fs = require('node:fs');
const v8 = require('node:v8');
const vm = require('node:vm');

/** Messages sent before the event loop has its turn. */
const BURST = 200;
/** Of what is wrong as many are told: a bench sends rows that are not the stream's own, and would keep all of them. */
const MOST_TOLD = 5;
/** How long after a start what was sent but never taken counts as lost on the way, and is sent again. */
const LOST_AFTER_MS = 300;

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');

function newRun({ count = 0, window = 1000, watch = false }) {
  return {
    count,
    window,
    watch,
    next: 0,
    again: [],
    resent: new Set(),
    fed: 0,
    open: 0,
    taken: new Uint8Array(count),
    sent: new Uint8Array(count),
    failed: new Uint8Array(count),
    ended: new Uint8Array(count),
    arrived: new Uint8Array(count),
    codes: {},
    mixed: [],
    unordered: [],
    last: new WeakMap(),
    lastArrived: -1,
    begun: performance.now(),
    finished: undefined,
    fits: { taken: 0, ended: 0, codes: {} },
  };
}

function tell(list, found) {
  if (list.length < MOST_TOLD) {
    list.push(found);
  }
}

module.exports = (RED) => {
  let run = newRun({});
  let source;
  let pumping = false;
  let pauses = 0;

  const left = () => run.again.length > 0 || run.next < run.count;

  function pump() {
    pumping = false;
    if (pauses > 0) {
      return;
    }
    for (let burst = 0; burst < BURST && source !== undefined && run.open < run.window && left(); burst++) {
      const id = run.again.shift() ?? run.next++;
      run.open += 1;
      run.fed += 1;
      source.send({ stream: id, payload: { id, x: id % 7 } });
    }
    if (run.open < run.window && left()) {
      wake();
    }
  }

  function wake() {
    if (pumping || pauses > 0 || source === undefined) {
      return;
    }
    pumping = true;
    setImmediate(pump);
  }

  function settle() {
    run.open -= 1;
    if (run.open === 0 && !left()) {
      run.finished = performance.now();
    }
    if (run.open < run.window && left()) {
      wake();
    }
  }

  /** Is this the row that was sent as number `id`, with the prediction of no other? */
  function check(msg, where) {
    const { payload, prediction } = msg;
    const id = msg.stream;
    const own = payload?.id === id && payload.x === id % 7 && payload.prediction === id;
    if (!own || (prediction !== undefined && (prediction.length !== 1 || prediction[0] !== id))) {
      tell(run.mixed, { where, id, payload, prediction });
    }
  }

  RED.hooks.add('onReceive.stream', ({ msg, destination }) => {
    // Node-RED still delivers to a closed node, but has taken its listener away: nobody gets that message.
    const { node } = destination;
    if (!run.watch || (node._inputCallback === null && node._inputCallbacks === null)) {
      return;
    }
    if (node.type === 'tabular-fit') {
      run.fits.taken += 1;
    }
    if (node.type === 'tabular-predict' && msg.stream !== undefined) {
      run.taken[msg.stream] += 1;
    }
  });
  RED.hooks.add('onSend.stream', (events) => {
    if (!run.watch) {
      return;
    }
    for (const { msg, source: from } of events) {
      if (from.node.type !== 'tabular-predict' || msg.stream === undefined) {
        continue;
      }
      run.sent[msg.stream] += 1;
      check(msg, 'sent');
      if (run.resent.has(msg.stream)) {
        continue;
      }
      const last = run.last.get(from.node) ?? -1;
      if (msg.stream < last) {
        tell(run.unordered, [last, msg.stream]);
      }
      run.last.set(from.node, msg.stream);
    }
  });
  RED.hooks.add('onComplete.stream', ({ msg, node, error }) => {
    if (!run.watch) {
      return;
    }
    if (node.node.type === 'tabular-fit') {
      run.fits.ended += 1;
      if (error) {
        run.fits.codes[error.code] = (run.fits.codes[error.code] ?? 0) + 1;
      }
    }
    if (node.node.type !== 'tabular-predict' || msg.stream === undefined) {
      return;
    }
    run.ended[msg.stream] += 1;
    if (error) {
      run.failed[msg.stream] += 1;
      run.codes[error.code] = (run.codes[error.code] ?? 0) + 1;
    }
    settle();
  });

  RED.events.on('flows:started', () => {
    const of = run;
    // Nothing may be on its way when what was lost is counted.
    pauses += 1;
    setTimeout(() => {
      pauses -= 1;
      if (!of.watch || of !== run || pauses > 0) {
        wake();
        return;
      }
      const waiting = new Set(of.again);
      for (let id = 0; id < of.next; id++) {
        if (of.taken[id] === 0 && !waiting.has(id)) {
          of.again.push(id);
          of.resent.add(id);
          of.open -= 1;
        }
      }
      wake();
    }, LOST_AFTER_MS);
  });

  RED.nodes.registerType('stream-source', function StreamSource(config) {
    RED.nodes.createNode(this, config);
    source = this;
    this.on('close', () => {
      if (source === this) {
        source = undefined;
      }
    });
    setTimeout(wake, LOST_AFTER_MS);
  });

  RED.nodes.registerType('stream-sink', function StreamSink(config) {
    RED.nodes.createNode(this, config);
    this.on('input', (msg, _send, done) => {
      if (msg.stream !== undefined) {
        run.arrived[msg.stream] += 1;
        check(msg, 'arrived');
        if (!run.watch) {
          if (msg.stream < run.lastArrived) {
            tell(run.unordered, [run.lastArrived, msg.stream]);
          }
          run.lastArrived = msg.stream;
          settle();
        }
      }
      done();
    });
  });

  // What stands between a row and its prediction without us: three requests, of bytes that are there already.
  RED.nodes.registerType('stream-bare', function StreamBare(config) {
    RED.nodes.createNode(this, config);
    const { Agent, request } = require(config.undici);
    const agent = new Agent();
    const { url, token, fitted, predict } = config;
    const file = Buffer.from(config.file, 'base64');
    const authorization = `Bearer ${token}`;
    const post = async (route, body) => {
      const headers = { authorization, 'content-type': 'application/json' };
      const options = { method: 'POST', headers, body: JSON.stringify(body), dispatcher: agent };
      return (await request(`${url}/svc/${route}`, options)).body.json();
    };
    this.on('input', (msg, send, done) => {
      (async () => {
        const prepared = await post('prepare_test_set_upload', {
          fitted_train_set_id: fitted,
          x_test_info: config.info,
        });
        const { signed_urls: urls, required_headers: headers } = prepared.x_test_info;
        const put = { method: 'PUT', headers, body: file, dispatcher: agent };
        await (await request(urls[0], put)).body.dump();
        await post('predict', { ...predict, test_set_upload_id: prepared.test_set_upload_id });
        msg.payload.prediction = msg.payload.id;
        send(msg);
        done();
      })().catch(done);
    });
    this.on('close', (done) => void agent.close().then(done));
  });

  const times = () => ({
    ms: (run.finished ?? performance.now()) - run.begun,
    finished: run.finished !== undefined,
  });
  const json = (handler) => (req, res) => res.json(handler(req.body ?? {}));
  RED.httpAdmin.post(
    '/stream/start',
    json((body) => {
      run = newRun(body);
      wake();
      return {};
    }),
  );
  RED.httpAdmin.post(
    '/stream/hold',
    json(({ on }) => {
      pauses += on ? 1 : -1;
      wake();
      return {};
    }),
  );
  RED.httpAdmin.get(
    '/stream/state',
    json(() => {
      const count = (list, wanted) => list.reduce((sum, value) => sum + (wanted(value) ? 1 : 0), 0);
      const one = (value) => value === 1;
      return {
        fed: run.fed,
        open: run.open,
        left: run.count - run.next + run.again.length,
        resent: run.resent.size,
        ended: count(run.ended, one),
        sent: count(run.sent, one),
        failed: count(run.failed, one),
        arrived: count(run.arrived, one),
        doubled: [run.ended, run.sent, run.failed, run.taken, run.arrived].reduce(
          (sum, list) => sum + count(list, (value) => value > 1),
          0,
        ),
        both: run.sent.reduce((sum, value, id) => sum + (value + run.failed[id] === 1 ? 0 : 1), 0),
        codes: run.codes,
        fits: run.fits,
        mixed: run.mixed,
        unordered: run.unordered,
        ...times(),
      };
    }),
  );
  // For benches: the whole state is looked up for each message, which takes time that the flow would have.
  RED.httpAdmin.get(
    '/stream/times',
    json(() => times()),
  );
  RED.httpAdmin.get(
    '/stream/process',
    json(() => {
      collectGarbage();
      const { heapUsed, external, rss } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return {
        cpuMs: (user + system) / 1000,
        heapMb: heapUsed / 2 ** 20,
        externalMb: external / 2 ** 20,
        rssMb: rss / 2 ** 20,
        files: fs.existsSync('/proc/self/fd') ? fs.readdirSync('/proc/self/fd').length : 0,
      };
    }),
  );
};
