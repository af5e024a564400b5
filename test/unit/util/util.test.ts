import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  AbortWatch,
  BoundedMap,
  linkedController,
  readFully,
  Serial,
  untilAborted,
  writeAll,
  writeFileAtomic,
  writePieces,
} from '../../doors/util';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('linkedController', () => {
  it('aborts with either signal and leaves no listener once unlinked', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const first = linkedController(one.signal, two.signal, undefined);
    const second = linkedController(one.signal);
    first.unlink();
    assert.equal(listeners(one.signal), 1);
    assert.equal(listeners(two.signal), 0);
    one.abort();
    assert.deepEqual([first.controller.signal.aborted, second.controller.signal.aborted], [false, true]);
  });

  it('is aborted from the start where a signal is', () => {
    assert.equal(linkedController(AbortSignal.abort()).controller.signal.aborted, true);
  });
});

describe('untilAborted', () => {
  it('gives the result and leaves no listener', async () => {
    const { signal } = new AbortController();
    assert.equal(await untilAborted(Promise.resolve(7), signal), 7);
    assert.equal(listeners(signal), 0);
  });

  it('rejects as soon as the signal aborts, though the work goes on', async () => {
    const controller = new AbortController();
    const waiting = untilAborted(new Promise(() => undefined), controller.signal);
    controller.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });
});

describe('AbortWatch', () => {
  it('follows many items with one listener, and takes it away with the last of them', () => {
    const aborted: number[][] = [];
    const watch = new AbortWatch<number>((items) => aborted.push(items));
    const controller = new AbortController();
    for (let item = 0; item < 100; item++) {
      watch.add(controller.signal, item);
    }
    assert.equal(listeners(controller.signal), 1);
    for (let item = 0; item < 98; item++) {
      watch.remove(controller.signal, item);
    }
    assert.equal(listeners(controller.signal), 1);
    controller.abort();
    assert.deepEqual(aborted, [[98, 99]]);

    const calm = new AbortController();
    watch.add(calm.signal, 1);
    watch.remove(calm.signal, 1);
    assert.equal(listeners(calm.signal), 0);
  });
});

describe('Serial', () => {
  it('runs steps in order, and one that fails does not hold up the next', async () => {
    const serial = new Serial();
    const order: string[] = [];
    const slow = serial.run(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push('slow');
    });
    const failing = serial.run(() => Promise.reject(new Error('no')));
    const last = serial.run(() => order.push('last'));
    await assert.rejects(failing, /no/);
    await Promise.all([slow, last]);
    await serial.idle();
    assert.deepEqual(order, ['slow', 'last']);
  });
});

describe('BoundedMap', () => {
  it('forgets the oldest beyond its size, and reports only those', () => {
    const evicted: string[] = [];
    const map = new BoundedMap<string, number>(2, (value, key) => evicted.push(`${key}=${value}`));
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    assert.deepEqual(
      [...map],
      [
        ['a', 3],
        ['c', 4],
      ],
    );
    map.delete('a');
    map.set('d', 5);
    assert.deepEqual(evicted, ['b=2']);
    assert.equal(map.size, 2);
  });
});

describe('files', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tabular-util-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** A handle that moves at most three bytes at a time, as a file system may. */
  function stingy(file: FileHandle): FileHandle {
    return {
      write: (data: Uint8Array, at: number, length: number, position?: number) =>
        file.write(data, at, Math.min(3, length), position),
      writev: ([first]: Uint8Array[]) => file.writev([first!.subarray(0, 3)]),
      read: (data: Uint8Array, at: number, length: number, position: number) =>
        file.read(data, at, Math.min(3, length), position),
    } as unknown as FileHandle;
  }

  it('are written and read whole though each call moves a few bytes', async () => {
    const name = path.join(folder, 'whole');
    const file = await open(name, 'w+');
    await writeAll(stingy(file), Buffer.from('0123456789'));
    await writeAll(stingy(file), Buffer.from('abcd'), 2);
    await writePieces(stingy(file), [Buffer.from('klmno'), Buffer.from('pq')]);
    await writePieces(file, [Buffer.from('r'), Buffer.from('st')]);
    const bytes = Buffer.alloc(20);
    assert.equal(await readFully(stingy(file), bytes, 0), 20);
    assert.equal(bytes.toString(), '01abcd6789klmnopqrst');
    assert.equal(await readFully(stingy(file), bytes, 17), 3);
    await file.close();
  });

  it('written atomically hold the old bytes or the new ones, and leave no temporary file', async () => {
    const name = path.join(folder, 'atomic');
    await writeFile(name, 'old');
    for (const durable of [true, false]) {
      await writeFileAtomic(name, `new ${durable}`, durable);
      assert.equal(await readFile(name, 'utf8'), `new ${durable}`);
      await assert.rejects(writeFileAtomic(path.join(folder, 'none', 'file'), 'x', durable), {
        code: 'ENOENT',
      });
    }
    assert.deepEqual((await readdir(folder)).sort(), ['atomic', 'whole']);
  });
});
