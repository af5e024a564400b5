import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ExampleNode } from '../../scripts/examples/flow.mjs';
import { seededRandom } from '../doors/util';
import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { startStrictService, type StrictService } from '../helpers/strict-service';

/** Enough columns that the file of model cards takes a while to write. */
const COLUMNS = Array.from({ length: 300 }, (_, i) => `a column with a long name, number ${i}`);

function wideRow(id: number): Record<string, number> {
  return { id, ...Object.fromEntries(COLUMNS.map((name, i) => [name, (id * i) % 11])) };
}

/** POST /train and /score. */
function flow(service: StrictService): FlowNode[] {
  const flow = new TestFlow('restart');
  flow.hosted(service);
  const out = flow.node('http response', 'out');
  const route = (name: string, node: ExampleNode, func: string): void => {
    const answer = flow.code(
      `answer ${name}`,
      'msg.payload = { name: msg.model && msg.model.name, prediction: msg.prediction }; return msg;',
    );
    flow.wire(flow.post(name), flow.code(`body ${name}`, func), node, answer, out);
  };
  route(
    'train',
    flow.tabular('fit', 'fit', { target: 'y', task: 'regression' }),
    'msg.model_name = msg.payload.name; msg.payload = msg.payload.rows; return msg;',
  );
  route(
    'score',
    flow.tabular('predict', 'predict'),
    'msg.model = msg.payload.name; msg.payload = msg.payload.rows; return msg;',
  );
  const failed = flow.code('failed', 'msg.statusCode = 500; msg.payload = msg.error; return msg;');
  flow.wire(flow.node('catch', 'caught'), failed, out);
  return flow.nodes;
}

async function post(red: RealNodeRed, route: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${red.url}/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Record<string, unknown>;
}

describe('restart of a real Node-RED', function () {
  this.timeout(180_000);
  let service: StrictService;
  let userDir: string;
  let red: RealNodeRed | undefined;

  beforeEach(async () => {
    service = await startStrictService();
    userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-restart-'));
  });

  afterEach(async () => {
    red?.process.kill('SIGKILL');
    red = undefined;
    await service.close();
    fs.rmSync(userDir, { recursive: true, force: true });
  });

  it('knows every model that a message announced, after kill -9 at any moment', async () => {
    const random = seededRandom(20_260_118);
    const announced: string[] = [];
    const link = { 'node-red-contrib-tabular-prediction': path.resolve(__dirname, '..', '..') };
    let cutWhileWriting = 0;
    for (let round = 0; round < 3; round++) {
      const flows =
        round === 0 ? [] : (JSON.parse(fs.readFileSync(`${userDir}/flows.json`, 'utf8')) as FlowNode[]);
      red = await startNodeRed({ flows, userDir, link });
      if (round === 0) {
        await red.deploy(flow(service));
      }
      for (const name of announced) {
        const id = 100 + round;
        const { prediction } = await post(red, 'score', { name, rows: [wideRow(id)] });
        assert.deepEqual(prediction, [id], `${name} in round ${round}`);
      }
      const { process: running } = red;
      const gone = once(running, 'exit');
      const before = announced.length;
      const train = async (lane: number): Promise<void> => {
        for (let i = 0; ; i++) {
          const name = `round ${round}, lane ${lane}, model ${i}`;
          const rows = Array.from({ length: 12 }, (_, id) => ({
            ...wideRow(id),
            y: id / 3 + i + 1000 * lane,
          }));
          const { name: answered } = await post(red!, 'train', { name, rows });
          assert.equal(answered, name);
          announced.push(name);
        }
      };
      const lanes = [0, 1].map((lane) => train(lane).catch((error: unknown) => error));
      while (announced.length < before + 2) {
        await sleep(5);
      }
      await sleep(random() * 300);
      running.kill('SIGKILL');
      await gone;
      for (const error of await Promise.all(lanes)) {
        assert.ok(error instanceof TypeError, `only the kill may end it: ${String(error)}`);
      }
      cutWhileWriting += fs
        .readdirSync(path.join(userDir, 'tabular-prediction'))
        .filter((name) => name.endsWith('.tmp')).length;
      assert.doesNotMatch(red.log(), /set aside/);
    }
    assert.ok(announced.length >= 6, `${announced.length} models, ${cutWhileWriting} kills while writing`);
    assert.deepEqual(service.breaches, []);
  });
});
