import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from '../helpers/node-red';
import { waitFor } from '../helpers/wait';

const MINUTE = 60_000;
const address = (i: number) => ({ key: null, time: i * MINUTE, ahead: 5 * MINUTE, id: `row ${i}` });
const predicted = (i: number, middle: number) => ({
  payload: { forecast: { '0.1': middle - 1, '0.5': middle, '0.9': middle + 1 } },
  series: address(i),
  model_name: 'motor',
});
const came = (i: number, truth: number) => ({ series: address(i), truth });

/** POST /watch: a list of messages for the watch node. */
function flow(): FlowNode[] {
  const flow = new TestFlow('watch');
  const watch = { property: 'forecast', alarmOn: 'value', raise: 80, alarmFor: 1 };
  const messages = flow.code('messages', 'return [msg.payload];');
  const taken = flow.post('watch');
  flow.wire(taken, messages, flow.node('tabular-watch', 'w', watch), flow.debug('forecasts', 'payload'));
  flow.wire(taken, flow.node('http response', 'out'));
  return flow.nodes;
}

interface Known {
  live: { rows: number; loss: number };
  changes: { what: string; text: string }[];
  counts: { open: number };
}

describe('a watch in a real Node-RED', function () {
  this.timeout(120_000);
  let userDir: string;
  let red: RealNodeRed | undefined;

  beforeEach(() => {
    userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-watch-'));
  });

  afterEach(async () => {
    await red?.stop();
    fs.rmSync(userDir, { recursive: true, force: true });
  });

  const send = async (messages: object[]): Promise<void> => {
    const answer = await fetch(`${red!.url}/watch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(messages),
    });
    assert.equal(answer.status, 200);
  };
  const known = async (): Promise<Known | null> =>
    (await (await fetch(`${red!.url}/tabular-prediction/watch/motor`)).json()) as Known | null;
  const status = (text: string) =>
    waitFor(`the status ${text}`, () => (red!.statuses.get('w')?.text === text ? true : undefined));

  it('says in words how good a model is, and goes on after kill -9 where its last change was told', async () => {
    red = await startNodeRed({ flows: flow(), userDir });
    assert.equal(await known(), null);
    await send(
      Array.from({ length: 40 }, (_, i) => [predicted(i, 50), came(i, 50 + (i % 5 === 0 ? 2 : 0.5))]).flat(),
    );
    await status('80% of 40 in band · MAE 0.80');
    // An alarm is on disk as soon as it is told.
    await send([predicted(40, 90)]);
    const file = path.join(userDir, 'tabular-prediction', 'watch', 'w.json');
    await waitFor('the file', () => (fs.existsSync(file) ? true : undefined));
    red.process.kill('SIGKILL');
    await once(red.process, 'exit');
    red = await startNodeRed({ flows: flow(), userDir });
    await status('active alarms: 1 · MAE 0.80');
    await send([came(40, 89), predicted(41, 90), predicted(42, 70), came(1, 70)]);
    const after = await waitFor('the truth of before', () =>
      / of 41 /.test(red!.statuses.get('w')?.text ?? '') ? known() : undefined,
    );
    // Raised before, it is not raised again; nothing that was counted is counted twice.
    assert.deepEqual(
      after.changes.map(({ what }) => what),
      ['alarm', 'cleared'],
    );
    assert.match(after.changes[0]!.text, /^The predicted value has reached 9\d\.\d \(alarm at 80\)\.$/);
    assert.equal(after.live.rows, 41);
    assert.equal(after.counts.open, 2);
  });
});
