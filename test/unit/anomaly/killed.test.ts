import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { anomalies } from '../../../dist/src';
import { seededRandom } from '../../doors/util';

const LIVES = 4;
/** It goes on from the row after those it knows, and says each row and each alarm once they were taken. */
const PROCESS = `
const { anomalies } = require(${JSON.stringify(path.resolve(__dirname, '../../../dist/src'))});
(async () => {
  const one = await anomalies({ folder: process.argv[1], learn: 100, alarms: 50, per: 'day' });
  for (let row = one.progress.rows; ; row++) {
    const load = Math.sin(row / 20) + Math.sin(row * 7.3) / 5;
    // Every second hour a sensor is wrong for ten minutes.
    const wrong = row > 110 && row % 120 < 10 ? 8 : 0;
    const reading = { time: 1.77e12 + row * 60_000, load, heat: 2 * load + Math.cos(row * 3.1) / 9 + wrong };
    const { changes } = await one.take(reading);
    await one.settled();
    for (const { kind, id } of changes) {
      if (kind === 'alarm') console.log('alarm', row + 1, id);
    }
    console.log('row', row + 1);
  }
})();`;

interface Life {
  /** Rows that were known at its first answer, less one. */
  began: number;
  /** Rows that were taken by its newest alarm. */
  safe: number;
  alarms: string[];
}

/** Takes readings in a process of its own, which is killed after so many answers. */
async function live(folder: string, answers: number): Promise<Life> {
  const child = spawn(process.execPath, ['-e', PROCESS, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const life: Life = { began: -1, safe: 0, alarms: [] };
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, row, ...id] = line.split(' ');
    if (what === 'alarm') {
      life.alarms.push(id.join(' '));
      life.safe = Number(row);
    } else if (life.began < 0) {
      life.began = Number(row) - 1;
    }
    if (++count === answers) {
      child.kill('SIGKILL');
    }
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');
  return life;
}

describe('anomalies that are killed', function () {
  this.timeout(120_000);

  it('lose no alarm that was sent and nothing before it, and send none twice', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-killed-'));
    const random = seededRandom(42);
    try {
      const lives: Life[] = [];
      for (let i = 0; i < LIVES; i++) {
        // Each gets to an alarm at least.
        lives.push(await live(folder, 250 + Math.floor(random() * 250)));
      }
      const sent = lives.flatMap(({ alarms }) => alarms);
      assert.ok(sent.length >= LIVES, `${sent.length} alarms`);
      assert.deepEqual(sent, [...new Set(sent)]);
      lives.slice(1).forEach(({ began }, i) => {
        const before = lives[i]!;
        assert.ok(began >= Math.max(before.safe, before.began), `${began}, ${JSON.stringify(before)}`);
      });
      const after = await anomalies({ folder, learn: 100 });
      try {
        await after.confirm('real', sent.at(-1));
        await after.confirm('usual', sent[0]);
      } finally {
        await after.close();
      }
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
