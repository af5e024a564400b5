/* A take over in a process of its own, killed on the way; and what a new process makes of what is left. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceClient } from '../../dist/src/client';
import { Connection, EmbeddedService, ModelCards } from '../../dist/src/connection';
import { Harness, temporaryFolder } from '../service/harness';

const PROCESS = path.join(__dirname, 'take-over-process.ts');

/** With --require each of its threads would load the compiler too. */
const LOAD = "require('tsx/cjs'); require(process.argv[1]);";

/** Notes may share a write, so that a run has as many changes less. */
const SHARED_WRITES = 4;

/**
 * Kills take overs before the changes of a file that `chosen` names, of `changes` (the first is 1), each in a process of
 * its own: one model or the other is in charge, and what nobody means is removed with the next start.
 */
export async function killTakeOvers(chosen: (changes: number) => number[]): Promise<void> {
  const root = await temporaryFolder();
  const first = path.join(root, 'first');
  assert.equal((await takeOver(first)).signal, null);
  const whole = path.join(root, 'whole');
  await cp(first, whole, { recursive: true });
  const { changes } = await takeOver(whole);
  assert.ok(changes > 10, `${changes}`);
  const versions: number[] = [];
  for (const at of chosen(changes)) {
    const folder = path.join(root, `killed ${at}`);
    await cp(first, folder, { recursive: true });
    const { signal } = await takeOver(folder, at);
    assert.ok(signal === 'SIGKILL' || at > changes - SHARED_WRITES, `${at} of ${changes}`);
    versions.push(await startedAgain(folder));
    await rm(folder, { recursive: true });
  }
  versions.push(await startedAgain(whole));
  await rm(root, { recursive: true });
  assert.deepEqual(
    versions,
    [...versions].sort((a, b) => a - b),
  );
  assert.deepEqual([versions[0], versions.at(-1)], [1, 2]);
}

/** The process of a take over: how it ended, and how many changes it told of. */
async function takeOver(
  folder: string,
  killBefore?: number,
): Promise<{ signal: NodeJS.Signals | null; changes: number }> {
  const child = spawn(
    process.execPath,
    ['-e', LOAD, PROCESS, folder, ...(killBefore === undefined ? [] : [String(killBefore)])],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { signal, changes: Number(/changes: (\d+)/.exec(text)?.[1] ?? 0) };
}

/** Starts what a kill has left, as a new process would. Answers which version predicts. */
async function startedAgain(folder: string): Promise<number> {
  const service = await Harness.start({ dataDir: path.join(folder, 'service') });
  const cards = ModelCards.open({
    path: path.join(folder, 'models.json'),
    service: 'embedded',
    onWarning: (text) => assert.fail(text),
  });
  const { url, token } = service.service;
  const connection = new Connection({
    service: new EmbeddedService({ open: () => Promise.resolve(new ServiceClient({ baseUrl: url, token })) }),
    cards,
  });
  try {
    const { version, versions } = cards.get('heat')!;
    const predicted = await connection.predict({
      ...{ table: { value: { load: 5 } }, model: 'heat', missingColumns: 'fill' },
    });
    assert.ok(Math.abs((predicted.prediction as number[])[0]! - 8) < 4);
    const models = () => readdir(path.join(folder, 'service', 'models'));
    for (let waited = 0; (await models()).length > versions.length && waited < 100; waited++) {
      await sleep(50);
    }
    assert.equal((await models()).length, versions.length, `version ${version}`);
    const uploads = () => readdir(path.join(folder, 'service', 'uploads'));
    for (let waited = 0; (await uploads()).length > versions.length && waited < 100; waited++) {
      await sleep(50);
    }
    assert.equal((await uploads()).length, versions.length, `train sets, version ${version}`);
    return version;
  } finally {
    await connection.close();
    await cards.close();
    await service.stop(true);
  }
}
