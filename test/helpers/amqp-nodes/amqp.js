/*
 * The nodes of @frankvdb/node-red-contrib-amqp 2.0.0 as far as the example uses them. That package is not in every
 * registry, so tests fall back on these. As there: nodes of one broker share a connection; a message is acknowledged when
 * it comes back to the node that received it, on the channel that the node has by then; amqp-out is done when the broker
 * has confirmed; after a broken connection a node begins anew, two seconds later.
 */
const amqplib = require('amqplib');

const AGAIN_MS = 2_000;

module.exports = (RED) => {
  RED.nodes.registerType(
    'amqp-broker',
    function AmqpBroker(config) {
      RED.nodes.createNode(this, config);
      const { host, port } = config;
      const { username, password } = this.credentials;
      let connection;
      this.connection = () => {
        connection ??= amqplib
          .connect({ hostname: host, port: Number(port), username, password, heartbeat: 2 })
          .then((opened) => {
            opened.on('error', () => undefined);
            opened.on('close', () => (connection = undefined));
            return opened;
          })
          .catch((error) => {
            connection = undefined;
            throw error;
          });
        return connection;
      };
      this.on('close', (done) => {
        Promise.resolve(connection)
          .then((opened) => opened?.close())
          .then(
            () => done(),
            () => done(),
          );
      });
    },
    { credentials: { username: { type: 'text' }, password: { type: 'password' } } },
  );

  /** Keeps a channel open: `open` makes one, again after each loss of it. */
  function keepOpen(node, open) {
    const held = { channel: undefined };
    let timer;
    let closed = false;
    const begin = () => {
      open()
        .then((channel) => {
          held.channel = channel;
          channel.on('error', () => undefined);
          channel.on('close', again);
          node.status({ fill: 'green', shape: 'dot', text: 'Connected' });
        })
        .catch(again);
    };
    const again = () => {
      node.status({ fill: 'grey', shape: 'ring', text: 'Disconnected' });
      clearTimeout(timer);
      if (!closed) {
        timer = setTimeout(begin, AGAIN_MS);
      }
    };
    begin();
    node.on('close', (done) => {
      closed = true;
      clearTimeout(timer);
      Promise.resolve(held.channel)
        .then((channel) => channel?.close())
        .then(
          () => done(),
          () => done(),
        );
    });
    return held;
  }

  RED.nodes.registerType('amqp-in-manual-ack', function AmqpInManualAck(config) {
    RED.nodes.createNode(this, config);
    const broker = RED.nodes.getNode(config.broker);
    const held = keepOpen(this, async () => {
      const channel = await (await broker.connection()).createChannel();
      await channel.prefetch(Number(config.prefetch));
      await channel.assertQueue(config.queueName, {
        durable: config.queueDurable,
        arguments: { 'x-queue-type': config.queueType, ...JSON.parse(config.queueArguments) },
      });
      await channel.consume(config.queueName, (message) => {
        if (message !== null) {
          const text = message.content.toString();
          this.send({ ...message, payload: parsed(text) });
        }
      });
      return channel;
    });
    this.on('input', (msg, _send, done) => {
      try {
        if (msg.manualAck?.ackMode === 'nack') {
          held.channel.nack(msg, false, msg.manualAck.requeue);
        } else {
          held.channel.ack(msg);
        }
      } catch (error) {
        this.error(`Could not ack message: ${error}`);
      }
      done();
    });
  });

  RED.nodes.registerType('amqp-out', function AmqpOut(config) {
    RED.nodes.createNode(this, config);
    const broker = RED.nodes.getNode(config.broker);
    const held = keepOpen(this, async () => (await broker.connection()).createConfirmChannel());
    this.on('input', (msg, _send, done) => {
      const options = { ...JSON.parse(config.amqpProperties), ...msg.properties };
      const bytes = Buffer.from(typeof msg.payload === 'string' ? msg.payload : JSON.stringify(msg.payload));
      (async () => {
        held.channel.publish(config.exchangeName, config.exchangeRoutingKey, bytes, options);
        await held.channel.waitForConfirms();
      })().then(
        () => done(),
        (error) => done(error),
      );
    });
  });
};

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
