import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type FolderLock, lockFolder, ownIdentity, type ProcessIdentity } from '../../doors/util';
import { failing } from '../../helpers/failing-files';
import { waitFor } from '../../helpers/wait';

const TIMES = { beat: 50, stale: 1_000, gone: 500 };
/** Where it is to be taken at once: whoever waited for another would wait longer than a test may last. */
const PATIENT = { beat: 50, stale: 600_000, gone: 600_000 };
const HOUR = 3_600_000;

describe('The lock of the data folder', () => {
  let folder: string;
  let lost: string[];
  const held: { release(): Promise<void> }[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'tabular-lock-'));
    lost = [];
  });
  afterEach(async () => {
    await Promise.all(held.splice(0).map((lock) => lock.release()));
    await rm(folder, { recursive: true, force: true });
  });

  async function take(token: string = randomUUID(), times = TIMES) {
    const lock = await lockFolder(folder, { token, onLost: (reason) => void lost.push(reason), times });
    held.push(lock);
    return lock;
  }

  const lockFolderOf = (): string => path.join(folder, 'lock');
  const ownerFile = (): string => path.join(folder, 'lock', 'owner.json');
  const ownerId = async (): Promise<string> =>
    (JSON.parse(await readFile(ownerFile(), 'utf8')) as { id: string }).id;

  /** A lock as another process left it or holds it, with the time that its clock showed. */
  async function lockOf(
    identity: Partial<ProcessIdentity>,
    clock = Date.now(),
  ): Promise<() => Promise<void>> {
    await mkdir(path.join(folder, 'lock'));
    const owner = { ...ownIdentity(randomUUID()), id: randomUUID(), ...identity };
    await writeFile(ownerFile(), JSON.stringify(owner));
    const offset = clock - Date.now();
    const beat = async (): Promise<void> => {
      const time = new Date(Date.now() + offset);
      await utimes(lockFolderOf(), time, time);
    };
    await beat();
    return beat;
  }

  function deadPid(): number {
    return spawnSync(process.execPath, ['-e', '']).pid;
  }

  const elsewhere = { host: 'elsewhere', scope: 'elsewhere' };

  for (const [name, offset] of [
    ['ahead of ours', 24 * HOUR],
    ['behind ours', -24 * HOUR],
  ] as const) {
    it(`is taken at once from a killed process of this host, whose clock was ${name}`, async () => {
      await lockOf({ pid: deadPid(), started: '1' }, Date.now() + offset);
      await take(randomUUID(), process.platform === 'linux' ? PATIENT : TIMES);
    });

    it(`is taken once its beat has stopped, from a host whose clock was ${name}`, async () => {
      await lockOf(elsewhere, Date.now() + offset);
      const started = performance.now();
      await take();
      const took = performance.now() - started;
      assert.ok(took >= TIMES.stale, `${took} ms`);
    });

    it(`is left to a living process of a host whose clock is ${name}`, async () => {
      const beat = await lockOf(elsewhere, Date.now() + offset);
      const before = await ownerId();
      const timer = setInterval(() => void beat(), TIMES.beat);
      try {
        await assert.rejects(take(), {
          name: 'FolderInUse',
          message: / on elsewhere is using /,
        });
      } finally {
        clearInterval(timer);
      }
      assert.equal(await ownerId(), before);
    });
  }

  it('is left to a process that beats, even one whose pid is not of this host', async function () {
    if (process.platform === 'linux') {
      this.skip();
    }
    const beat = await lockOf({ pid: deadPid() });
    const timer = setInterval(() => void beat(), TIMES.beat);
    await assert.rejects(take(), { name: 'FolderInUse' });
    clearInterval(timer);
  });

  it('is only read while nobody asks for it, and kept by its owner when somebody does', async () => {
    const times = async (): Promise<number[]> => [
      (await stat(lockFolderOf())).mtimeMs,
      (await stat(ownerFile())).mtimeMs,
    ];
    await take();
    const [taken] = await times();
    let before = await times();
    // The first look takes the time of the file that was just written for a question.
    while (before[0] === taken) {
      await sleep(TIMES.beat);
      before = await times();
    }
    await sleep(6 * TIMES.beat);
    assert.deepEqual(await times(), before);
    const [folderTime] = before;
    await assert.rejects(take(randomUUID(), { ...TIMES, gone: 1_000 }), { name: 'FolderInUse' });
    assert.ok((await times())[0]! > folderTime!);
    assert.deepEqual(lost, []);
  });

  it('is taken from a process whose pid belongs to another one by now', async function () {
    if (process.platform !== 'linux') {
      this.skip();
    }
    await lockOf({ pid: process.pid, started: '1' });
    await take(randomUUID(), PATIENT);
  });

  it('is taken at once from a former thread of the same process', async () => {
    const token = randomUUID();
    await lockOf({ token });
    await take(token, PATIENT);
  });

  it('is taken where it says nothing of its owner, once nothing moves', async () => {
    await mkdir(path.join(folder, 'lock'));
    await utimes(path.join(folder, 'lock'), new Date(Date.now() + HOUR), new Date(Date.now() + HOUR));
    await take();
    await rm(path.join(folder, 'lock'), { recursive: true });
    await mkdir(path.join(folder, 'lock'));
    await writeFile(ownerFile(), 'torn');
    await take();
    assert.match(await ownerId(), /^[0-9a-f-]{36}$/);
  });

  it('goes to one of many that find it left behind', async () => {
    await lockOf({ pid: deadPid(), started: '1' });
    const taken = await Promise.allSettled(Array.from({ length: 12 }, () => take()));
    assert.equal(taken.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of taken) {
      assert.ok(result.status === 'fulfilled' || /is using/.test(String(result.reason)));
    }
    await sleep(3 * TIMES.beat);
    assert.deepEqual(lost, []);
  });

  it('beats, and leaves nothing of former locks or of itself', async () => {
    await mkdir(path.join(folder, `lock-new-${randomUUID()}`));
    await lockOf({ pid: deadPid(), started: '1' });
    const lock = await take();
    const { mtimeMs } = await stat(lockFolderOf());
    const isDone = async () =>
      (await stat(lockFolderOf())).mtimeMs > mtimeMs && (await readdir(folder)).length === 1;
    for (let waited = 0; !(await isDone()) && waited < 100; waited++) {
      await sleep(2 * TIMES.beat);
    }
    assert.ok((await stat(lockFolderOf())).mtimeMs > mtimeMs);
    assert.deepEqual(await readdir(folder), ['lock']);
    await lock.release();
    assert.deepEqual(await readdir(folder), []);
  });

  it('is reported as lost when somebody took or removed it, and is not released then', async () => {
    const lock = await take();
    const owner = { ...ownIdentity(randomUUID()), id: randomUUID(), pid: 7, host: 'elsewhere' };
    const taken = path.join(folder, 'taken');
    await writeFile(taken, JSON.stringify(owner));
    // At once: no beat may find the folder without an owner.
    await rename(taken, ownerFile());
    while (lost.length === 0) {
      await sleep(TIMES.beat);
    }
    assert.deepEqual(lost, ['process 7 on elsewhere took it over']);
    await lock.release();
    await stat(ownerFile());
  });

  it('survives a look that fails', async () => {
    await take();
    const aside = path.join(folder, 'aside');
    await copyFile(ownerFile(), aside);
    // A link to itself cannot be read, like a file on a disk in trouble.
    await symlink('owner.json', path.join(folder, 'loop'));
    await rename(path.join(folder, 'loop'), ownerFile());
    await assert.rejects(readFile(ownerFile()), { code: 'ELOOP' });
    await sleep(4 * TIMES.beat);
    await rename(aside, ownerFile());
    await sleep(2 * TIMES.beat);
    assert.deepEqual(lost, []);
  });

  describe('on a disk where it cannot be written', () => {
    let mend: () => void = () => undefined;
    afterEach(() => mend());
    const written = async (lock: FolderLock): Promise<void> => {
      while (!lock.isWritten) {
        await sleep(TIMES.beat);
      }
    };

    for (const [call, code] of [
      ['mkdir', 'ENOSPC'],
      ['writeFile', 'EDQUOT'],
      ['writeFile', 'EFBIG'],
    ] as const) {
      it(`is written once there is room (${code} of ${call})`, async () => {
        await lockOf({ pid: deadPid(), started: '1' });
        mend = failing([call], code, /lock-new/);
        const lock = await take(randomUUID(), { ...PATIENT, gone: 0 });
        await sleep(3 * TIMES.beat);
        assert.equal(lock.isWritten, false);
        // Each beat makes one anew, and takes it away again.
        await waitFor('a moment with no half a lock', async () =>
          (await readdir(folder)).every((name) => name.startsWith('lock-gone-')) ? true : undefined,
        );
        mend();
        await written(lock);
        assert.equal((JSON.parse(await readFile(ownerFile(), 'utf8')) as { pid: number }).pid, process.pid);
        await sleep(2 * TIMES.beat);
        assert.deepEqual(lost, []);
      });
    }

    it('takes the place of one that is left behind on a disk that is read only, once it is not', async () => {
      await lockOf({ pid: deadPid(), started: '1' });
      const former = await ownerId();
      mend = failing(['rename'], 'EROFS', /lock/);
      const lock = await take(randomUUID(), { ...PATIENT, gone: 0 });
      await sleep(3 * TIMES.beat);
      assert.deepEqual([lock.isWritten, await ownerId(), lost], [false, former, []]);
      mend();
      await written(lock);
      assert.notEqual(await ownerId(), former);
      assert.deepEqual(lost, []);
    });

    it('is lost to somebody who could write it first, and to nobody else', async () => {
      mend = failing(['mkdir'], 'ENOSPC', /lock-new/);
      const lock = await take();
      await sleep(3 * TIMES.beat);
      assert.deepEqual(lost, []);
      await lockOf({ pid: 7, ...elsewhere });
      const other = await ownerId();
      mend();
      while (lost.length === 0 && !lock.isWritten) {
        await sleep(TIMES.beat);
      }
      assert.deepEqual(lost, ['process 7 on elsewhere took it over']);
      await lock.release();
      assert.equal(await ownerId(), other);
    });

    it('is an error where it may not be written at all', async () => {
      mend = failing(['mkdir'], 'EACCES', /lock-new/);
      await assert.rejects(take(), { code: 'EACCES' });
    });
  });
});
