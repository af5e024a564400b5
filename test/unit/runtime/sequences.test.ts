import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';

import { readRows } from '../../../dist/src/program-table';
import { TableSpool } from '../../../dist/src/table';
import { type Collected, type Message, Sequences, withoutSequence } from '../../doors/runtime';
import type { ServiceError } from '../../doors/wire';
import { stoppedClock } from '../../helpers/clock';

const IDLE_MS = 60_000;

function sequences() {
  const given: { error: ServiceError; last: Message }[] = [];
  const leftBehind: unknown[] = [];
  const all = new Sequences({
    idleMs: IDLE_MS,
    onIncomplete: (error, last) => void given.push({ error, last }),
    onLeftBehind: (error) => void leftBehind.push(error),
  });
  const add = async (msg: Partial<Message>) => seen(await all.add(msg as Message, msg.payload));
  return { all, add, given, leftBehind };
}

/** The rows of a table that is complete; its spool is freed. */
async function seen(collected: Collected): Promise<{ complete: boolean; table?: unknown }> {
  if (!collected.complete) {
    return { complete: false };
  }
  const { table, dispose } = collected;
  try {
    if ('source' in table) {
      return { complete: true, table: await readRows(table.source) };
    }
    return { complete: true, table: (table as { value: unknown }).value };
  } finally {
    await dispose();
  }
}

const part = (id: string, index: number, payload: unknown, more: object = {}) => ({
  payload,
  parts: { id, index, ...more },
});

describe('Sequences', () => {
  const clock = stoppedClock();

  it('reports a temporary file that cannot be removed when a sequence is given up', async () => {
    const { all, add, leftBehind } = sequences();
    const failure = new Error('EBUSY');
    const dispose = Object.getOwnPropertyDescriptor(TableSpool.prototype, 'dispose')!;
    TableSpool.prototype.dispose = () => Promise.reject(failure);
    try {
      await add(part('a', 0, { x: 1 }));
      all.close();
      await turn();
    } finally {
      Object.defineProperty(TableSpool.prototype, 'dispose', dispose);
    }
    assert.deepEqual(leftBehind, [failure]);
  });

  it('ends when count parts have come, as split sends them', async () => {
    const { add } = sequences();
    assert.deepEqual(await add(part('a', 0, { x: 1 }, { count: 3 })), { complete: false });
    assert.deepEqual(await add(part('a', 1, { x: 2 }, { count: 3 })), { complete: false });
    assert.deepEqual(await add(part('a', 2, { x: 3 }, { count: 3 })), {
      complete: true,
      table: [{ x: 1 }, { x: 2 }, { x: 3 }],
    });
  });

  it('keeps interleaved sequences apart by id', async () => {
    const { add } = sequences();
    await add(part('a', 0, { x: 1 }, { count: 2 }));
    await add(part('b', 0, { x: 10 }, { count: 2 }));
    assert.deepEqual(await add(part('b', 1, { x: 20 }, { count: 2 })), {
      complete: true,
      table: [{ x: 10 }, { x: 20 }],
    });
    assert.deepEqual(await add(part('a', 1, { x: 2 }, { count: 2 })), {
      complete: true,
      table: [{ x: 1 }, { x: 2 }],
    });
  });

  it('takes a count that comes late, with the lines of a file joined again (file in)', async () => {
    const { add } = sequences();
    const line = (index: number, payload: string, more: object = {}) =>
      part('f', index, payload, { ch: '\n', type: 'string', ...more });
    await add(line(0, 'x,y'));
    await add(line(1, '1,2'));
    assert.deepEqual(await add(line(2, '', { count: 3 })), { complete: true, table: [{ x: 1, y: 2 }] });
  });

  it('takes the empty last packet of a streamed file, whose size is a multiple of the buffer', async () => {
    const { add } = sequences();
    const bytes = (text: string) => Buffer.from(text);
    await add(part('f', 0, bytes('x\n'), { type: 'buffer', ch: '' }));
    await add(part('f', 1, bytes('1\n'), { type: 'buffer', ch: '' }));
    const end = await add({ parts: { id: 'f', index: 2, count: 2 } });
    assert.deepEqual(end, { complete: true, table: [{ x: 1 }] });
  });

  it('ends with msg.complete, with a row and without one (csv)', async () => {
    const withRow = sequences();
    await withRow.add(part('c', 0, { x: 1 }, { count: NaN }));
    assert.deepEqual(await withRow.add({ ...part('c', 1, { x: 2 }), complete: true }), {
      complete: true,
      table: [{ x: 1 }, { x: 2 }],
    });
    const bare = sequences();
    await bare.add(part('c', 0, { x: 1 }));
    assert.deepEqual(await bare.add({ complete: true }), { complete: true, table: [{ x: 1 }] });
  });

  it('lets a bare complete end the sequence that had the last part', async () => {
    const { add, all } = sequences();
    await add(part('a', 0, { x: 1 }));
    await add(part('b', 0, { x: 10 }));
    await add(part('a', 1, { x: 2 }));
    assert.deepEqual(await add({ complete: true }), { complete: true, table: [{ x: 1 }, { x: 2 }] });
    assert.equal(all.waiting, 1);
  });

  it('takes arrays of rows as parts, as a database node sends them', async () => {
    const { add } = sequences();
    await add(part('d', 0, [{ x: 1 }, { x: 2 }]));
    assert.deepEqual(await add({ ...part('d', 1, [{ x: 3 }]), complete: true }), {
      complete: true,
      table: [{ x: 1 }, { x: 2 }, { x: 3 }],
    });
  });

  it('takes a message without parts as a table of its own', async () => {
    const { add } = sequences();
    await add(part('a', 0, { x: 1 }));
    assert.deepEqual(await add({ payload: [{ y: 1 }] }), { complete: true, table: [{ y: 1 }] });
  });

  it('ignores a bare complete with nothing open', async () => {
    assert.deepEqual(await sequences().add({ complete: true }), { complete: false });
  });

  it('gives up a sequence that stops coming, with its last part', async () => {
    const { add, given, all } = sequences();
    await add(part('a', 0, { x: 1 }, { count: 5 }));
    const last = { ...part('a', 1, { x: 2 }, { count: 5 }) };
    await add(last);
    clock.pass(IDLE_MS - 1);
    assert.equal(given.length, 0);
    clock.pass(1);
    assert.equal(given.length, 1);
    assert.equal(given[0]?.error.code, 'sequence.incomplete');
    assert.match(given[0].error.message, /after 2 of 5 parts/);
    assert.equal(given[0].last, last);
    assert.equal(all.waiting, 0);
  });

  it('does not give up while parts keep coming', async () => {
    const { add, given } = sequences();
    for (let i = 0; i < 6; i++) {
      await add(part('a', i, { x: i }));
      clock.pass(IDLE_MS - 1);
    }
    assert.deepEqual(given, []);
  });

  it('refuses a part of another kind, and the whole sequence at its end', async () => {
    const { add } = sequences();
    await add(part('a', 0, { x: 1 }, { count: 3 }));
    await assert.rejects(add(part('a', 1, 'text', { count: 3 })), {
      code: 'table.invalid',
      message: /Part 2/,
    });
    await assert.rejects(add(part('a', 2, { x: 3 }, { count: 3 })), { code: 'sequence.incomplete' });
  });

  const emptyParts: [string, number][] = [
    ['in the middle', 1],
    ['at the end', 2],
  ];
  for (const [where, index] of emptyParts) {
    it(`counts a part without a value and names it at the end of the sequence: ${where}`, async () => {
      const { add, all } = sequences();
      const errors: (ServiceError | undefined)[] = [];
      for (let i = 0; i < 3; i++) {
        const adding = add(part('a', i, i === index ? null : { x: i }, { count: 3 }));
        errors.push(
          await adding.then(
            () => undefined,
            (error: unknown) => error as ServiceError,
          ),
        );
      }
      const codes = [0, 1, 2].map((i) =>
        i === 2 ? 'sequence.incomplete' : i === index ? 'table.empty' : undefined,
      );
      assert.deepEqual(
        errors.map((error) => error?.code),
        codes,
      );
      assert.match(errors[2]!.message, new RegExp(`Part ${index + 1} .* holds no value`));
      assert.equal(all.waiting, 0, 'nothing is waited for');
    });
  }

  it('says that a message with neither a table nor a place in a sequence is empty', async () => {
    await assert.rejects(sequences().add({ payload: null }), { code: 'table.empty' });
  });

  it('says that a sequence without rows is empty', async () => {
    await assert.rejects(sequences().add({ parts: { id: 'a', index: 0 }, complete: true }), {
      code: 'table.empty',
    });
  });

  it('a part that takes long to store is waited for, not reported as missing', async () => {
    const { add, all, given } = sequences();
    const slow = part('a', 1, [{ a: 2, b: 'u' }], { count: 2 });
    await add(part('a', 0, { a: 1, b: 't' }, { count: 2 }));
    const kept = all as unknown as {
      open: Map<string, { spool: { append(value: unknown): Promise<void> } }>;
    };
    const { spool } = kept.open.get('id:a')!;
    const append = spool.append.bind(spool);
    spool.append = async (value) => {
      clock.pass(2 * IDLE_MS);
      await append(value);
    };
    assert.equal((await add(slow)).complete, true);
    assert.deepEqual(given, []);
  });

  it('a part that is being stored when the node closes is closed, and nothing is said of it later', async () => {
    const { add, all, given } = sequences();
    const stored = assert.rejects(add(part('a', 0, { x: 1 }, { count: 3 })), { code: 'closed' });
    assert.equal(all.close(), 1);
    await stored;
    await assert.rejects(add(part('a', 1, { x: 2 }, { count: 3 })), { code: 'closed' });
    clock.pass(2 * IDLE_MS);
    assert.deepEqual(given, []);
    assert.equal(all.waiting, 0);
  });

  it('leaves no timer and no rows after close', async () => {
    const { add, all, given } = sequences();
    await add(part('a', 0, { x: 1 }));
    assert.equal(all.close(), 1);
    clock.pass(2 * IDLE_MS);
    assert.deepEqual(given, []);
  });
});

describe('withoutSequence', () => {
  it('takes parts and complete off and brings an outer sequence to light', () => {
    const plain = { _msgid: 'm', parts: { id: 'a', index: 1 }, complete: true };
    withoutSequence(plain);
    assert.deepEqual(plain, { _msgid: 'm' });
    const outer = { id: 'outer', index: 4 };
    const nested = { _msgid: 'm', parts: { id: 'a', index: 1, parts: outer } };
    withoutSequence(nested);
    assert.deepEqual(nested, { _msgid: 'm', parts: outer });
  });
});
