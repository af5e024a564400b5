import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { crashImages } from '../helpers/crash-images';
import { takeOver, withUserFolder } from '../helpers/take-over';
import { waitFor } from '../helpers/wait';
import { temporaryFolder } from '../service/harness';

const PROCESS = path.join(__dirname, '..', 'helpers', 'take-over-process.ts');

/** With --require each of its threads would load the compiler too. */
const LOAD = "require('tsx/cjs'); require(process.argv[1]);";

describe('a take over that is killed before a change of a file', function () {
  this.timeout(600_000);
  let root: string;
  /** A user folder in which version 1 is in charge. */
  let first: string;
  before(async () => {
    root = await temporaryFolder();
    first = path.join(root, 'first');
    await withUserFolder(first, takeOver);
  });
  after(() => rm(root, { recursive: true, force: true }));

  it('leaves one model or the other in charge, and what nobody means is removed with the next start', async () => {
    const whole = path.join(root, 'whole');
    await cp(first, whole, { recursive: true });
    const { images } = await withUserFolder(whole, (open) =>
      crashImages(whole, path.join(root, 'images'), () => takeOver(open)),
    );
    assert.ok(images.length > 10, `${images.length}`);
    const versions: number[] = [];
    for (const { folder } of images) {
      // Of a process that is gone; here it is this one.
      for (const name of await readdir(path.join(folder, 'service'))) {
        if (name.includes('lock')) {
          await rm(path.join(folder, 'service', name), { recursive: true });
        }
      }
      versions.push(await startedAgain(folder));
    }
    assert.deepEqual(
      versions,
      [...versions].sort((a, b) => a - b),
    );
    assert.deepEqual([versions[0], versions.at(-1)], [1, 2]);

    // A process is killed in earnest. Images that are alike are taken once, so that there are at least as many changes.
    const at = images.length >> 1;
    const killed = path.join(root, 'killed');
    await cp(first, killed, { recursive: true });
    assert.equal(await killedBefore(killed, at), 'SIGKILL', `${at} of ${images.length}`);
    await startedAgain(killed);
  });
});

/** Answers the signal that a process ended by which was to kill itself before a change of a file. */
async function killedBefore(folder: string, change: number): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, ['-e', LOAD, PROCESS, folder, String(change)], { stdio: 'inherit' });
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return signal;
}

/** Starts what a kill has left, as a new process would. Answers which version predicts. */
async function startedAgain(folder: string): Promise<number> {
  return withUserFolder(folder, async ({ cards, connection }) => {
    const { version, versions } = cards.get('heat')!;
    const predicted = await connection.predict({
      ...{ table: { value: { load: 5 } }, model: 'heat', missingColumns: 'fill' },
    });
    assert.ok(Math.abs((predicted.prediction as number[])[0]! - 8) < 4);
    for (const kind of ['models', 'uploads']) {
      const count = async (): Promise<number> => (await readdir(path.join(folder, 'service', kind))).length;
      await waitFor(
        `no more ${kind} than versions, which is ${version}`,
        async () => (await count()) <= versions.length,
        5_000,
      );
      assert.equal(await count(), versions.length, `${kind}, version ${version}`);
    }
    return version;
  });
}
