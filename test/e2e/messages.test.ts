import assert from 'node:assert/strict';

import { TestFlow } from '../helpers/flow';
import { waitFor } from '../helpers/wait';
import { describeInEditor, openDialog } from './editor';

const T = Date.UTC(2026, 10, 25, 10);
const MINUTE = 60_000;
const iso = (time: number) => new Date(time).toISOString();

/** Series nodes, each behind POST /<its id>, which takes a list of messages. */
function flow(): TestFlow {
  const flow = new TestFlow('messages');
  for (const [id, settings] of Object.entries({
    times: {},
    beside: {},
    plants: {},
    meters: { key: 'plant/+/#', keyType: 'topic' },
  })) {
    const taken = flow.post(id);
    const auto = { shape: 'auto', outcome: 'none', send: 'all', ...settings };
    flow.wire(
      taken,
      flow.code(`messages of ${id}`, 'return [msg.payload];'),
      flow.node('tabular-series', id, auto),
      flow.debug(`rows of ${id}`, 'true'),
    );
    flow.wire(taken, flow.node('http response', `answer of ${id}`));
  }
  return flow;
}

interface Row {
  payload: Record<string, unknown>;
  series: { key: string | null; time: number };
}

describeInEditor('messages as they come', flow().nodes, ({ red, editor }) => {
  const send = async (id: string, messages: object[]): Promise<Row[]> => {
    const before = red.debug.filter((shown) => shown.id === `rows of ${id}`).length;
    const answer = await fetch(`${red.url}/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(messages),
    });
    assert.equal(answer.status, 200);
    const shown = await red.shown(`rows of ${id}`, before + messages.length);
    return shown.slice(before).map(({ msg }) => msg as Row);
  };
  /** The lines of the last message in the dialog of a node. */
  const inDialog = async (id: string): Promise<string[]> => {
    await openDialog(editor.page, id);
    const place = editor.page.locator('[data-tabular-last]');
    await place.waitFor();
    return (await place.innerText()).split('\n');
  };
  const warnings = (id: string) =>
    red
      .log()
      .split('\n')
      .filter((line) => line.includes(`[warn] [tabular-series:${id}]`));

  it('have their time under each of its names, in text, s, ms, µs or ns', async () => {
    const names = [
      ...['_time', 'timestamp_ms', 'datetime', 'received_at', 'created_at'],
      ...['last_changed', 'last_updated', 'last_seen', 'sourceTimestamp'],
    ];
    const units = [iso, (time: number) => time, ...[1e-3, 1e3, 1e6].map((by) => (time: number) => time * by)];
    const rows = await send(
      'times',
      names.flatMap((name, i) =>
        units.map((written, u) => ({
          payload: { [name]: written(T + (i * units.length + u) * MINUTE), x: i, device: { [name]: 5 } },
        })),
      ),
    );
    assert.deepEqual(
      rows.map(({ series }) => (series.time - T) / MINUTE),
      Array.from({ length: names.length * units.length }, (_, i) => i),
    );
    for (const [i, { payload }] of rows.entries()) {
      assert.equal(payload.x, Math.floor(i / units.length));
      assert.equal(names[payload.x]! in payload, false, names[payload.x]);
    }
    const [title, key, time, x] = await inDialog('times');
    assert.match(title!, /^Last message, as it was read: /);
    assert.equal(key, 'Key: –');
    assert.equal(time, `Time: ${iso(T + 44 * MINUTE)}`);
    assert.equal(x, 'x: 8');
  });

  it('have their time beside the payload, as msg.sourceTimestamp', async () => {
    const messages = [0, 1, 2].map((i) => ({
      ...{ topic: 'line1/temperature', payload: 20 + i },
      sourceTimestamp: [iso(T), T + MINUTE, iso(T + 2 * MINUTE)][i],
    }));
    const rows = await send('beside', messages);
    assert.deepEqual(
      rows.map(({ series }) => (series.time - T) / MINUTE),
      [0, 1, 2],
    );
    assert.ok((await inDialog('beside')).includes(`Time: ${iso(T + 2 * MINUTE)}`));
  });

  it('say once where one column is filled by two topics, and what to enter', async () => {
    const messages = (column: (i: number) => string) =>
      [0, 1, 2, 3].map((i) => ({
        topic: column(i),
        payload: { temperature: 20 + i, timestamp: T + i * MINUTE },
      }));
    await send(
      'plants',
      messages((i) => `plant/pump${i % 2}/readings`),
    );
    await send(
      'meters',
      messages((i) => `plant/pump1/sensor${i % 2}`),
    );
    const [plants, meters] = await waitFor('both warnings', () => {
      const all = [warnings('plants'), warnings('meters')];
      return all.every((lines) => lines.length > 0) ? all : undefined;
    });
    assert.equal(plants!.length, 1);
    assert.match(plants![0]!, /"temperature" arrives on the topics plant\/pump0\/readings and plant\/pump1/);
    assert.match(plants![0]!, /choose "topic" under Key and enter plant\/\+\/#/);
    assert.equal(meters!.length, 1);
    assert.match(meters![0]!, /"temperature" of pump1 arrives .* put \{column\} into the topic/);
    assert.ok((await inDialog('meters')).includes('Key: pump1'));
  });
});
