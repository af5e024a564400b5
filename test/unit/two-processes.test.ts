import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { anomalies, series } from '../../dist/src';
import { KeptLock } from '../doors/util';
import { waitFor } from '../helpers/wait';

/** Another process that opens something in the folder, and keeps it open. */
const OTHER = `
const { anomalies, series } = require(${JSON.stringify(path.resolve(__dirname, '../../dist/src'))});
(async () => {
  const [, folder, what] = process.argv;
  if (what === 'anomalies') {
    const one = await anomalies({ folder });
    for (let i = 0; i < 50; i++) await one.take({ time: 1.77e12 + i * 60_000, load: i });
    await one.store.flush();
  } else {
    const one = await series({ folder, outcome: 'none' });
    for (let i = 0; i < 50; i++) await one.push({ time: 1.77e12 + i * 60_000, load: i });
    await one.opened.flush();
  }
  process.send('open');
  setInterval(() => undefined, 1000);
})();`;

describe('Two processes with one folder of state', function () {
  this.timeout(60_000);

  let folder: string;
  let other: ChildProcess | undefined;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-two-'));
  });
  afterEach(async () => {
    await kill();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function otherWith(what: string): Promise<number> {
    other = spawn(process.execPath, ['-e', OTHER, folder, what], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const said: unknown[] = await Promise.race([once(other, 'message'), once(other, 'exit')]);
    assert.equal(said[0], 'open');
    return other.pid!;
  }

  async function kill(): Promise<void> {
    if (other?.exitCode === null) {
      const exited = once(other, 'exit');
      other.kill('SIGKILL');
      await exited;
      other = undefined;
    }
  }

  const refusedBy = (pid: number) => ({
    code: 'storage.failed',
    message: new RegExp(`process ${pid} on .* is using .*${path.basename(folder)}: end it, or give each`),
  });

  it('are told of each other by anomalies; once the other is gone, its readings are there', async () => {
    const pid = await otherWith('anomalies');
    await assert.rejects(anomalies({ folder }), refusedBy(pid));
    await kill();
    const mine = await anomalies({ folder });
    assert.equal(mine.progress.rows, 50);
    await mine.close();
    assert.ok(!fs.readdirSync(folder).includes('lock'));
  });

  it('are told of each other by series', async () => {
    const pid = await otherWith('series');
    await assert.rejects(series({ folder, outcome: 'none' }), refusedBy(pid));
    await kill();
    const mine = await series({ folder, outcome: 'none' });
    assert.equal(mine.progress.readings, 50);
    await mine.close();
    assert.ok(!fs.readdirSync(folder).includes('lock'));
  });

  it('are told of each other within one process, until the first is closed', async () => {
    const first = await series({ folder, outcome: 'none' });
    await first.push({ x: 1, time: 1000 });
    await assert.rejects(series({ folder, outcome: 'none' }), refusedBy(process.pid));
    await first.push({ x: 2, time: 2000 });
    await first.close();
    const second = await series({ folder, outcome: 'none' });
    assert.equal(second.progress.readings, 2);
    await second.close();
    assert.ok(!fs.readdirSync(folder).includes('lock'));
  });

  it('do not both write: the one that has lost the folder writes nothing more', async () => {
    const lock = await KeptLock.take(folder);
    await lock.assertOurs();
    const owner = path.join(folder, 'lock', 'owner.json');
    const mine = JSON.parse(fs.readFileSync(owner, 'utf8')) as object;
    fs.writeFileSync(owner, JSON.stringify({ ...mine, id: 'another', pid: 7, host: 'elsewhere' }));
    const told = await waitFor('the loss', () =>
      lock.assertOurs().then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      ),
    );
    assert.equal(told, 'process 7 on elsewhere took it over');
    await lock.release();
    assert.ok(fs.existsSync(owner));
  });

  it('lock a folder anew that was removed', async () => {
    const lock = await KeptLock.take(folder, 'w.json.lock');
    fs.rmSync(path.join(folder, 'w.json.lock'), { recursive: true });
    await waitFor('another', async () => {
      await lock.assertOurs();
      return fs.existsSync(path.join(folder, 'w.json.lock'));
    });
    await lock.release();
    assert.deepEqual(fs.readdirSync(folder), []);
  });
});
