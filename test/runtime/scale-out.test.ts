import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Mosquitto, mosquittoBinary, startMosquitto } from '../helpers/mosquitto';
import { type FlowNode, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { readings, Source, type StandaloneService, startStandalone } from '../helpers/scale-out';
import { waitFor } from '../helpers/wait';

/** What the members share. */
const SHARED = '$share/scorers/machines/readings';

const binary = mosquittoBinary();
const title = binary === undefined ? ' (no Mosquitto here: install it, or set MOSQUITTO to its path)' : '';

/* The example "Scale out over MQTT" in two real Node-REDs, with a real broker and one service that they share. */
describe(`two Node-REDs share a stream over MQTT 5${title}`, function () {
  this.timeout(240_000);
  let broker: Mosquitto;
  let service: StandaloneService;
  let source: Source;
  let flow: FlowNode[];
  const members = new Map<string, RealNodeRed>();
  const folders = new Map<string, string>();

  const id = (type: string, name: string): string => {
    const node = flow.find((other) => other.type === type && other.name === name);
    assert.ok(node, `${type} "${name}"`);
    return node.id;
  };
  const status = (red: RealNodeRed, text: string) =>
    waitFor(`the status "${text}"`, () => {
      const shown = red.statuses.get(id('function', 'member'));
      return shown?.text === text || undefined;
    });

  /** No member shows that readings are under way. */
  const areIdle = () =>
    [...members.values()].every((red) => red.statuses.get(id('tabular-predict', 'load'))?.fill !== 'blue');

  async function start(scorer: string): Promise<RealNodeRed> {
    const red = await startNodeRed({
      flows: [],
      userDir: folders.get(scorer)!,
      env: { SCORER: scorer },
    });
    members.set(scorer, red);
    await red.deploy(flow);
    return red;
  }

  before(async function () {
    if (binary === undefined) {
      this.skip();
      return;
    }
    [broker, service] = await Promise.all([startMosquitto(binary), startStandalone()]);
    flow = JSON.parse(
      fs.readFileSync(path.join(root, 'examples', 'Scale out over MQTT.json'), 'utf8'),
    ) as FlowNode[];
    flow.find(({ type }) => type === 'mqtt-broker')!.port = String(broker.port);
    Object.assign(
      flow.find(({ type }) => type === 'tabular-config')!,
      {
        baseUrl: service.url,
        credentials: { token: service.token },
      },
    );
    source = await Source.connect(broker.port);
    for (const scorer of ['a', 'b']) {
      folders.set(scorer, fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-scale-out-')));
      await start(scorer);
    }
  });

  after(async () => {
    for (const red of members.values()) {
      await red.stop();
    }
    await source?.close();
    await service?.close();
    await broker?.close();
    for (const folder of folders.values()) {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  /** Each reading has one result, and it is its own. */
  function assertOwn(sent: ReturnType<typeof readings>): void {
    for (const { reading, load } of sent) {
      assert.equal(source.answered.get(reading.key)?.load, load, reading.key);
    }
  }

  function assertOnce(sent: ReturnType<typeof readings>): void {
    const keys = new Set(sent.map(({ reading }) => reading.key));
    const came = source.results.filter(({ key }) => keys.has(key)).map(({ key }) => key);
    assert.equal(came.length, sent.length, `${came.length} results for ${sent.length} readings`);
    assertOwn(sent);
  }

  const shareOf = (scorer: string, name: string) =>
    source.results.filter((result) => result.scorer === scorer && result.key.startsWith(`${name}/`)).length;

  it('one trains; the other has the model by the retained card', async () => {
    await members.get('a')!.inject(id('inject', 'Train'));
    await Promise.all([...members.values()].map((red) => status(red, 'scoring')));
  });

  it('while both live, every reading is scored exactly once, by either of them', async () => {
    const sent = readings('both', 1_000);
    for (let i = 0; i < sent.length; i += 100) {
      await source.send(sent.slice(i, i + 100).map(({ reading }) => reading));
    }
    await source.settled(30_000);
    await sleep(500);
    assertOnce(sent);
    assert.deepEqual(source.errors, []);
    for (const scorer of ['a', 'b']) {
      const share = shareOf(scorer, 'both');
      assert.ok(share > 200, `${scorer} scored ${share} of 1000`);
    }
  });

  it('one leaves, is stopped, comes back and joins again: every reading is scored exactly once', async () => {
    const sent = readings('leave', 3_000);
    let begun = 0;
    const stream = (async () => {
      while (begun < sent.length) {
        const next = sent.slice(begun, (begun += 20));
        await source.send(next.map(({ reading }) => reading));
        await sleep(30);
      }
    })();
    await waitFor('results of b', () => shareOf('b', 'leave') > 0);
    const b = members.get('b')!;
    const left = broker.left(SHARED);
    await b.inject(id('inject', 'Leave'));
    await status(b, 'left');
    await waitFor('the broker to let it go', () => broker.left(SHARED) > left || undefined);
    const afterwards = new Set(sent.slice(begun).map(({ reading }) => reading.key));
    assert.ok(afterwards.size > 0);
    await sleep(1_000);
    const before = shareOf('b', 'leave');
    assert.ok(before > 0);
    assert.equal(await b.stop(), 0);
    members.delete('b');
    await start('b');
    await status(members.get('b')!, 'scoring');
    await stream;
    await source.settled(60_000, 4_000, areIdle);
    await sleep(500);
    assertOnce(sent);
    assert.deepEqual(source.errors, []);
    // Node-RED stops listening an instant before the broker knows: what is on its way then is lost, and nothing after.
    assert.deepEqual(
      source.resent.filter((key) => afterwards.has(key)),
      [],
    );
  });

  it('one is killed: what was lost with it comes again, and each key is written once', async () => {
    const sent = readings('kill', 1_000);
    const stream = (async () => {
      for (let i = 0; i < sent.length; i += 20) {
        await source.send(sent.slice(i, i + 20).map(({ reading }) => reading));
        await sleep(20);
      }
    })();
    await waitFor('results of b', () => shareOf('b', 'kill') > 0);
    const b = members.get('b')!;
    const gone = once(b.process, 'exit');
    b.process.kill('SIGKILL');
    await gone;
    members.delete('b');
    await stream;
    await source.settled(60_000, 4_000, areIdle);
    assertOwn(sent);
    const a = members.get('a')!;
    const written = await a.shown(id('debug', 'result'), 5_000, 30_000);
    const keys = written.map(({ msg }) => (msg as { key: string }).key);
    assert.equal(new Set(keys).size, keys.length, 'the first result of a key is written, and no other');
  });
});
