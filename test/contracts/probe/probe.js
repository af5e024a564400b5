/*
 * What a contract sees of a Node-RED: every message that leaves an output, every error that a Catch node gets, every
 * status, and how often each message was completed. A probe's `name` says what its messages are; what a node holds in
 * its hands is recorded at once, because flows may change it later.
 */
const { decode, encode } = require('./codec');

module.exports = (RED) => {
  let events = [];
  let waiting = [];

  function record(event) {
    events.push(event);
    const woken = waiting;
    waiting = [];
    woken.forEach((wake) => wake());
  }

  RED.hooks.add('onReceive.contract', ({ destination: { id, node } }) => {
    if (node.type.startsWith('tabular-')) {
      record({ kind: 'taken', from: id });
    }
  });
  RED.hooks.add('onComplete.contract', ({ node }) => {
    // What was sent before takes turns of the event loop to arrive.
    if (node.node.type.startsWith('tabular-')) {
      const event = { kind: 'done', from: node.id };
      setImmediate(() => setImmediate(() => setImmediate(() => record(event))));
    }
  });

  RED.nodes.registerType('contract-probe', function Probe(config) {
    RED.nodes.createNode(this, config);
    this.on('input', (msg, _send, done) => {
      const { error, status, ...rest } = msg;
      if (config.name === 'error') {
        const told = { ...error };
        delete told.source;
        delete told.stack;
        record({ kind: 'error', from: error.source.id, error: encode(told), msg: encode(rest) });
      } else if (config.name === 'status') {
        const { source, ...told } = status;
        record({ kind: 'status', from: source.id, status: encode(told) });
      } else {
        const [from, output] = config.name.split('>');
        record({ kind: 'message', from, output: Number(output), msg: encode(msg) });
      }
      done();
    });
  });

  RED.httpAdmin.post('/contract/send', (request, response) => {
    const { to, messages } = request.body;
    const node = RED.nodes.getNode(to);
    if (!node) {
      response.status(404).json({ message: `there is no node ${to}` });
      return;
    }
    messages.forEach((msg) => node.receive(decode(msg)));
    response.json({});
  });

  RED.httpAdmin.get('/contract/nodes', (_request, response) => {
    const live = [];
    RED.nodes.eachNode(({ id, type }) => {
      if (type.startsWith('tabular-') && RED.nodes.getNode(id)) {
        live.push(id);
      }
    });
    response.json(live);
  });

  // Answers when there are events beyond the given number, or after a second without any.
  RED.httpAdmin.get('/contract/events', (request, response) => {
    const from = Number(request.query.from);
    const answer = () => {
      clearTimeout(timer);
      response.json(events.slice(from));
    };
    const timer = setTimeout(() => {
      waiting = waiting.filter((wake) => wake !== answer);
      answer();
    }, 1000);
    if (events.length > from) {
      answer();
    } else {
      waiting.push(answer);
    }
  });
};
