import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { type FlowNode, type RealNodeRed, root, startNodeRed, waitFor } from '../helpers/node-red';
import { installedPackage } from '../helpers/packed';
import { startPostgres } from '../helpers/postgres';

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

  async function start(
    name: string,
    change: (flow: FlowNode[]) => void = () => undefined,
  ): Promise<{ red: RealNodeRed; flow: FlowNode[] }> {
    tested.add(`${name}.json`);
    const flow = example(name);
    change(flow);
    red = await startNodeRed({
      flows: flow,
      link: {
        'node-red-contrib-tabular-prediction': installedPackage(),
        '@flowfuse/node-red-dashboard': path.join(root, 'node_modules', '@flowfuse', 'node-red-dashboard'),
        'node-red-contrib-postgrestor-next': path.join(
          root,
          'node_modules',
          'node-red-contrib-postgrestor-next',
        ),
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

  it('PostgreSQL in and out: rows from a real PostgreSQL are scored and written back, once each', async () => {
    const postgres = await startPostgres();
    try {
      const { red, flow } = await start('PostgreSQL in and out', (nodes) => {
        nodes.find(({ type }) => type === 'postgresDB')!.port = String(postgres.port);
        // Shows what stands in the tables in the end.
        const z = nodes.find(({ type }) => type === 'tab')!.id;
        const database = nodes.find(({ type }) => type === 'postgresDB')!.id;
        const query =
          'SELECT d.distance_km, d.carrier, f.* FROM delivery_forecast f JOIN delivery d ON d.id = f.delivery_id';
        nodes.push(
          { id: 'ask', type: 'inject', z, x: 1, y: 1, props: [], wires: [['read']] },
          {
            id: 'read',
            type: 'postgrestor',
            z,
            x: 1,
            y: 1,
            query,
            postgresDB: database,
            wires: [['stored']],
          },
          {
            id: 'stored',
            type: 'debug',
            z,
            x: 1,
            y: 1,
            active: true,
            tosidebar: true,
            complete: 'payload.rows',
            targetType: 'msg',
            wires: [],
          },
        );
      });
      await red.inject(find(flow, 'inject', 'Make tables'));
      await waitFor('the tables', () => red.log().includes('connection released') || undefined);
      await red.inject(find(flow, 'inject', 'Train'));
      const [trained] = await red.shown(find(flow, 'debug', 'model card'), 1, 60_000);
      const card = trained!.msg as { rows: number; columns: { name: string; type: string }[] };
      assert.equal(card.rows, 300);
      assert.equal(card.columns.find(({ name }) => name === 'ordered_at')?.type, 'date');
      for (const times of [1, 2]) {
        await red.inject(find(flow, 'inject', 'Score'));
        const written = await red.shown(find(flow, 'debug', 'written'), times);
        assert.equal(Number(written[times - 1]!.msg), 100);
      }
      await red.inject('ask');
      const [stored] = await red.shown('stored');
      const rows = stored!.msg as {
        carrier: string;
        distance_km: number;
        late: string;
        probability: number;
      }[];
      assert.equal(rows.length, 100, postgres.kind);
      const right = rows.filter(({ carrier, distance_km, late }) => {
        return distance_km > (carrier === 'snail' ? 250 : 600) === (late === 'yes');
      });
      assert.ok(right.length >= 90, `${right.length} of 100 are right`);
      assert.ok(rows.every(({ probability }) => probability >= 0.5 && probability <= 1));
      assert.deepEqual(
        red.debug.filter((message) => message.id === find(flow, 'debug', 'error')),
        [],
      );
      await red.stop();
    } finally {
      await postgres.close();
    }
  });

  it('has no example without a test', () => {
    // It has a file of its own: scale-out.test.ts.
    tested.add('Scale out over MQTT.json');
    assert.deepEqual([...tested].sort(), fs.readdirSync(path.join(root, 'examples')).sort());
  });
});
