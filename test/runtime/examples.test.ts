import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type FlowNode, type RealNodeRed, root, startNodeRed, waitFor } from '../helpers/node-red';
import { installedPackage } from '../helpers/packed';

function example(name: string): FlowNode[] {
  return JSON.parse(fs.readFileSync(path.join(root, 'examples', `${name}.json`), 'utf8')) as FlowNode[];
}

function find(flow: FlowNode[], type: string, name: string): string {
  const node = flow.find((other) => other.type === type && other.name === name);
  assert.ok(node, `${type} "${name}"`);
  return node.id;
}

/* The packed package, installed as a user installs it, in a real Node-RED; nothing of this checkout but the examples. */
describe('every example, imported and deployed', function () {
  this.timeout(240_000);

  let red: RealNodeRed | undefined;
  const tested = new Set<string>();

  async function start(name: string): Promise<{ red: RealNodeRed; flow: FlowNode[] }> {
    tested.add(`${name}.json`);
    const flow = example(name);
    red = await startNodeRed({
      flows: flow,
      link: {
        'node-red-contrib-tabular-prediction': installedPackage(),
        '@flowfuse/node-red-dashboard': path.join(root, 'node_modules', '@flowfuse', 'node-red-dashboard'),
      },
    });
    return { red, flow };
  }

  afterEach(async () => {
    const code = await red?.stop();
    red = undefined;
    assert.equal(code ?? 0, 0);
  });

  it('First steps: trains on CSV text, then predicts three rows', async () => {
    const { red, flow } = await start('First steps');
    await red.inject(find(flow, 'inject', 'Train'));
    const [trained] = await red.shown(find(flow, 'debug', 'model card'), 1, 60_000);
    const card = trained!.msg as { task: string; target: string; classes: string[]; rows: number };
    assert.deepEqual(
      { task: card.task, target: card.target, classes: card.classes, rows: card.rows },
      { task: 'classification', target: 'ripe', classes: ['no', 'yes'], rows: 60 },
    );
    await red.inject(find(flow, 'inject', 'Predict'));
    const [scored] = await red.shown(find(flow, 'debug', 'rows with their prediction'));
    const rows = scored!.msg as { fruit: string; ripe: string; ripe_probabilities: Record<string, number> }[];
    assert.deepEqual(
      rows.map(({ fruit, ripe }) => [fruit, ripe]),
      [
        ['mango', 'yes'],
        ['pear', 'no'],
        ['banana', 'yes'],
      ],
    );
    for (const { ripe_probabilities: p } of rows) assert.ok(Math.abs(p.yes! + p.no! - 1) < 1e-6);
  });

  for (const name of ['Live machine', 'Live machine with plots']) {
    it(`${name}: predictions move by themselves soon after the start`, async () => {
      const { red, flow } = await start(name);
      const begun = Date.now();
      const shown = await red.shown(find(flow, 'debug', 'scored reading'), 8, 60_000);
      const seconds = (Date.now() - begun) / 1000;
      assert.ok(seconds < 45, `the eighth prediction came after ${seconds} s`);
      const forecasts = shown.map(({ msg }) => {
        const { payload, prediction, metadata, model_name } = msg as Record<string, Record<string, never>>;
        const quantiles = payload!.bearing_in_10min_c!;
        assert.ok(quantiles['0.1'] <= quantiles['0.5'] && quantiles['0.5'] <= quantiles['0.9']);
        assert.ok(['yes', 'no'].includes(payload!.failure_ahead!));
        assert.ok(payload!.failure_ahead_probabilities!['yes'] >= 0);
        assert.ok(prediction);
        assert.equal(metadata!.test_set_num_rows, 1);
        assert.equal(model_name, 'pump bearing');
        return quantiles['0.5'];
      });
      assert.ok(new Set(forecasts).size > 1, 'the forecasts differ from reading to reading');
      assert.deepEqual(
        red.debug.filter((message) => message.id === find(flow, 'debug', 'error')),
        [],
      );
      if (name.endsWith('plots')) {
        const page = await fetch(`${red.url}/dashboard/`);
        assert.equal(page.status, 200);
      }
      await waitFor('a status under "show"', () => red.statuses.get(find(flow, 'function', 'show'))?.text);
    });
  }

  it('has no example without a test', () => {
    assert.deepEqual([...tested].sort(), fs.readdirSync(path.join(root, 'examples')).sort());
  });
});
