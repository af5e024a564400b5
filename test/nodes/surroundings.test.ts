import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';
import { trainRows } from './bench';

const fixture = (name: string) => path.join(__dirname, '../fixtures/tls', name);

/** A forward proxy for plain HTTP that notes what it was asked for. */
async function startProxy(): Promise<{ server: Server; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.headers['proxy-authorization'] ?? ''} ${incoming.url ?? ''}`);
    const { method, headers } = incoming;
    const onward = request(incoming.url ?? '', { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, asked };
}

describe('a hosted service behind what a real Node-RED has around it', function () {
  this.timeout(60_000);
  let service: StrictService;
  let named: StrictService;
  let red: RealNodeRed;

  before(async () => {
    named = await startStrictService({ token: 'start-middle-end' });
    const { port } = new URL(named.url);
    red = await startNodeRed({ flows: [], env: { PORT_OF_SERVICE: port, PART: 'middle' } });
  });

  after(async () => {
    await red?.stop();
    await named?.close();
  });

  afterEach(async () => {
    await red.deploy([]);
    red.debug.length = 0;
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  const flow = (config: object, extra: FlowNode[] = [], fit: object = {}): FlowNode[] => {
    const flow = new TestFlow();
    flow.hosted(service, { retries: 0, ...config });
    const rows = { props: [{ p: 'payload' }], payload: JSON.stringify(trainRows(20)), payloadType: 'json' };
    flow.wire(
      flow.inject('go', rows),
      flow.tabular('fit', 'fit', { target: 'y', model: 'm', ...fit }),
      flow.debug('shown', 'model.name'),
    );
    flow.wire(flow.node('catch', 'caught'), flow.debug('error', 'error.code'));
    return [...flow.nodes, ...extra];
  };

  it('its certificate is checked against the CA of a tls-config node', async () => {
    service = await startStrictService({
      tls: { key: readFileSync(fixture('server.key.pem')), cert: readFileSync(fixture('server.pem')) },
    });
    const tls = {
      id: 'tls',
      type: 'tls-config',
      cert: '',
      key: '',
      ca: fixture('ca.pem'),
      verifyservercert: true,
    };

    await red.deploy(flow({ tls: 'tls' }, [tls]));
    await red.inject('go');
    assert.equal((await red.shown('shown'))[0]?.msg, 'm');
    // Forced, since an unchanged train set asks for nothing.
    await red.deploy(flow({}, [], { forceRefit: true }));
    await red.inject('go');
    assert.equal((await red.shown('error'))[0]?.msg, 'service.unavailable');
  });

  it('an http proxy node with user and password takes the requests to it', async () => {
    service = await startStrictService();
    const { server, asked } = await startProxy();
    try {
      const { port } = server.address() as AddressInfo;
      const proxy = {
        id: 'proxy',
        type: 'http proxy',
        name: '',
        url: `http://127.0.0.1:${port}`,
        noproxy: [],
        credentials: { username: 'me', password: 'p@ss' },
      };
      const { port: behind } = new URL(service.url);
      const baseUrl = `http://service.example.org:${behind}`;
      await red.deploy(flow({ baseUrl, proxy: 'proxy', credentials: { token: 'x' } }, [proxy]));
      await red.inject('go');
      assert.equal((await red.shown('error'))[0]?.msg, 'service.unavailable');
      const wanted = `Basic ${Buffer.from('me:p@ss').toString('base64')} ${baseUrl}/svc/`;
      assert.ok(asked[0]?.startsWith(wanted), asked.join('\n'));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('address and token hold environment variables, also inside a longer text', async () => {
    service = named;
    const baseUrl = 'http://127.0.0.1:${PORT_OF_SERVICE}/';
    await red.deploy(flow({ baseUrl, credentials: { token: 'start-${PART}-end' } }));
    await red.inject('go');
    assert.equal((await red.shown('shown'))[0]?.msg, 'm');
    await waitFor('the status', () => red.statuses.get('fit')?.text?.includes('ready') || undefined);
    assert.ok(!red.log().includes('start-middle-end'));
  });

  it('a node shows no status any more once it or its flow is disabled', async () => {
    service = await startStrictService();
    const nodes = flow({ credentials: { token: service.token } });
    const shown = () => red.statuses.get('fit')?.text;
    for (const disabled of [
      (node: FlowNode) => (node.type === 'tab' ? { ...node, disabled: true } : node),
      (node: FlowNode) => (node.id === 'fit' ? { ...node, d: true } : node),
    ]) {
      await red.deploy(nodes);
      await red.inject('go');
      await waitFor('the status', () => shown()?.includes('ready') || undefined);
      await red.deploy(nodes.map(disabled));
      await waitFor('no status', () => shown() === undefined || undefined);
    }
  });
});
