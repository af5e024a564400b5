import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { closeEncoder, encodeBatches, openTableFile } from '../../../dist/src/table';
import { rejectsWith, withFolder } from './helpers';

/** What a look at the thread stands for, in seconds. */
const LOOK = 5;
const ABORT_MS = 5_000;

type Posted = { kind: string; task?: { name: string } };

/** A thread that never gets some of its work, so that it never answers to it; time passes when it is told to. */
class Silence {
  private look: (() => void) | undefined;
  private readonly real = { setInterval, setTimeout };
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  private readonly post = Worker.prototype.postMessage;

  constructor(isLost: (task: string) => boolean) {
    const { post } = this;
    Worker.prototype.postMessage = function (this: Worker, message: Posted, ...rest) {
      if (message.kind !== 'start' || !isLost(message.task!.name)) {
        post.call(this, message, ...(rest as []));
      }
    };
    globalThis.setInterval = ((callback: () => void) => {
      this.look = callback;
      return this.real.setInterval(() => undefined, 2 ** 30);
    }) as typeof setInterval;
    globalThis.setTimeout = ((callback: () => void, ms: number) =>
      this.real.setTimeout(callback, ms === ABORT_MS ? 0 : ms)) as typeof setTimeout;
  }

  pass(seconds: number): void {
    for (let at = 0; at < seconds; at += LOOK) {
      this.look?.();
    }
  }

  end(): void {
    Worker.prototype.postMessage = this.post;
    Object.assign(globalThis, this.real);
  }
}

/** `open`, or what has become of it after everything that was due. */
async function stateOf(work: Promise<unknown>): Promise<string> {
  return Promise.race([work, setImmediate('open')]).then(
    (answer) => (answer === 'open' ? 'open' : 'done'),
    () => 'failed',
  );
}

describe('An encoder thread that does not answer', () => {
  let silence: Silence;

  beforeEach(() => closeEncoder());

  afterEach(async () => {
    silence.end();
    await closeEncoder();
  });

  it('is ended after two minutes, which is an error of its table; another one is done again', () =>
    withFolder(async (folder) => {
      const [lost, other] = ['lost.csv', 'other.csv'].map((name) => path.join(folder, name));
      await writeFile(lost!, 'a,b\n1,2\n');
      await writeFile(other!, 'a,b\n1,2\n');
      let losses = 2;
      silence = new Silence((task) => task === 'open' && losses-- > 0);
      const first = openTableFile(lost!);
      silence.pass(60);
      const second = openTableFile(other!);
      silence.pass(60);
      assert.equal(await stateOf(first), 'open');
      silence.pass(LOOK);
      await rejectsWith(
        first,
        'file.unreadable',
        /lost\.csv" made no progress: nothing was heard of it for 2 min/,
      );
      assert.deepEqual((await second).names, ['a', 'b']);
    }));

  it('has longer for a large file', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'large.csv');
      await writeFile(file, Buffer.concat([Buffer.from('a,b\n'), Buffer.alloc(20_000_000, '1,2\n')]));
      silence = new Silence((task) => task === 'profile');
      const source = await openTableFile(file);
      const profile = source.profile({});
      silence.pass(220);
      assert.equal(await stateOf(profile), 'open');
      silence.pass(40);
      await rejectsWith(profile, 'file.unreadable', /nothing was heard of it for 4 minutes/);
    }));

  it('is waited for only while something is asked of it', async () => {
    silence = new Silence(() => false);
    const columns = [{ name: 'a', type: 'number' as const }];
    async function* batches() {
      for (let at = 0; at < 3; at++) {
        await setImmediate();
        silence.pass(1_000);
        yield { rows: 600_000, columns: [{ type: 'number' as const, values: new Float64Array(600_000) }] };
      }
    }
    assert.equal((await encodeBatches(columns, batches())).rows, 1_800_000);
  });

  it('does not hold who gives up on it', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'a.csv');
      await writeFile(file, 'a,b\n1,2\n');
      silence = new Silence((task) => task === 'open');
      const controller = new AbortController();
      const reason = new Error('enough');
      const opened = openTableFile(file, { signal: controller.signal });
      controller.abort(reason);
      await assert.rejects(opened, reason);
    }));
});
