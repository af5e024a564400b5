/*
 * How the messages that the nodes of this package took have ended, as Node-RED's hooks tell: what is remembered here
 * outlives redeploys. Node-RED also hands messages to nodes that it has stopped; without a listener they do not hear.
 */
module.exports = (RED) => {
  const accounts = new Map();
  let next = 0;

  const accountOf = (type) => {
    const known = accounts.get(type) ?? { taken: [], done: [], completed: [], caught: [], closed: [] };
    accounts.set(type, known);
    return known;
  };
  const listens = (node) => node._inputCallback !== null || node._inputCallbacks !== null;

  RED.hooks.add('onReceive.account', ({ msg, destination: { node } }) => {
    if (msg.account === undefined || !listens(node)) {
      return;
    }
    if (node.type === 'complete') {
      accountOf(msg.complete.source.type).completed.push(msg.account);
    } else if (node.type === 'catch') {
      accountOf(msg.error.source.type).caught.push(msg.account);
    } else if (node.type.startsWith('tabular-')) {
      accountOf(node.type).taken.push(msg.account);
    }
  });
  RED.hooks.add('onComplete.account', ({ msg, node: { node }, error }) => {
    if (msg.account === undefined || !node.type.startsWith('tabular-')) {
      return;
    }
    const account = accountOf(node.type);
    account.done.push(msg.account);
    if (error?.code === 'closed') {
      account.closed.push(msg.account);
    }
  });

  /** Sends `burst` messages every `every` milliseconds, of what the function body `make` answers for their number n. */
  RED.nodes.registerType('account-source', function AccountSource(config) {
    RED.nodes.createNode(this, config);
    const { every, burst, make } = config;
    const messageOf = new Function('n', make);
    const timer = setInterval(() => {
      for (let sent = 0; sent < burst; sent++) {
        const n = next++;
        this.send({ ...messageOf(n), account: n });
      }
    }, every);
    this.on('close', () => clearInterval(timer));
  });

  /** The numbers of the messages, by the type of the node that took them. */
  RED.httpAdmin.get('/account', (_req, res) => res.json(Object.fromEntries(accounts)));
};
