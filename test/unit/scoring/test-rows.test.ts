import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import {
  chooseTestRows,
  HELD,
  keepDigests,
  KEPT,
  LEFT_OUT,
  type RowFacts,
  SEEN,
  UNCERTAIN,
  UNSEEN,
  whichSeen,
} from '../../doors/scoring';

function facts(rows: number, more: Partial<RowFacts> = {}): RowFacts {
  return {
    rows,
    task: 'regression',
    codes: new Int32Array(rows),
    classes: [],
    counts: [rows],
    values: new Float64Array(rows),
    order: 'time',
    falling: false,
    ...more,
  };
}

const seenUntil = (rows: number, until: number): Uint8Array =>
  Uint8Array.from({ length: rows }, (_, row) => (row < until ? SEEN : UNSEEN));
const CHOICE = { embargo: 0, seed: 1, isDecayed: false };
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

/** The numbers of the rows of each kind. */
function parts(chosen: Awaited<ReturnType<typeof chooseTestRows>>) {
  assert.ok('plan' in chosen, JSON.stringify(chosen));
  const of = (what: number): number[] => [...chosen.plan].flatMap((one, row) => (one === what ? [row] : []));
  return { kept: of(KEPT), held: of(HELD), out: of(LEFT_OUT) };
}

describe('chooseTestRows, in order of time', () => {
  it('takes the newer half of the rows that are newer than the champion’s, less the embargo', async () => {
    const { kept, held, out } = parts(
      await chooseTestRows(facts(1000), { ...CHOICE, seen: seenUntil(1000, 800), embargo: 20 }),
    );
    assert.deepEqual(held, range(910, 1000));
    assert.deepEqual(out, range(890, 910));
    assert.deepEqual(kept, range(0, 890));
  });

  it('a fifth of the rows at most', async () => {
    const chosen = await chooseTestRows(facts(1000), { ...CHOICE, seen: seenUntil(1000, 0) });
    assert.deepEqual(parts(chosen).held, range(800, 1000));
  });

  it('too few new rows are said so; after a decay a smaller embargo will do', async () => {
    const seen = seenUntil(500, 420);
    const chosen = await chooseTestRows(facts(500), { ...CHOICE, seen, embargo: 50 });
    assert.deepEqual(chosen, {
      tooFew: '80 rows are new to the model in charge, and 110 are needed',
    });
    const { held, out } = parts(
      await chooseTestRows(facts(500), { ...CHOICE, seen, embargo: 50, isDecayed: true }),
    );
    assert.deepEqual([held.length, out.length], [30, 20]);
    const none = await chooseTestRows(facts(500), { ...CHOICE, seen: seenUntil(500, 450), isDecayed: true });
    assert.ok('tooFew' in none);
  });

  it('rows that only look like those seen move the border little', async () => {
    const seen = seenUntil(1000, 800);
    for (const idle of [830, 900, 995]) {
      seen[idle] = SEEN;
    }
    const { held } = parts(await chooseTestRows(facts(1000), { ...CHOICE, seen }));
    assert.deepEqual(held, range(900, 1000));
  });

  it('goes by the times where a column tells them, the newest first or not, ties together', async () => {
    const times = Float64Array.from({ length: 1000 }, (_, row) => Math.floor((999 - row) / 7));
    const seen = Uint8Array.from(times, (time) => (time < 100 ? SEEN : UNSEEN));
    const { held, kept } = parts(
      await chooseTestRows(facts(1000, { times, falling: true }), { ...CHOICE, seen }),
    );
    const oldestHeld = Math.min(...held.map((row) => times[row]!));
    assert.ok(kept.every((row) => times[row]! < oldestHeld));
    assert.ok(held.length > 100 && held.every((row) => seen[row] === UNSEEN));
  });

  it('a group that began after the champion is not split; one that it knows goes on', async () => {
    // Rows of two machines, and from row 850 on a third.
    const groups = Int32Array.from({ length: 1000 }, (_, row) => (row >= 850 && row % 3 === 0 ? 2 : row % 2));
    const { held, kept, out } = parts(
      await chooseTestRows(facts(1000, { groups }), { ...CHOICE, seen: seenUntil(1000, 800) }),
    );
    assert.deepEqual(held, range(900, 1000));
    assert.ok(!kept.some((row) => groups[row] === 2) && kept.some((row) => groups[row] === 1));
    assert.ok(out.length > 0 && out.every((row) => groups[row] === 2));
  });

  it('a machine that is behind the others is scored on what is new of it alone', async () => {
    // In turn a row of each; the champion has seen the first machine up to row 900, the second up to row 500.
    const groups = Int32Array.from({ length: 1000 }, (_, row) => row % 2);
    const seen = Uint8Array.from(groups, (group, row) => (row < (group === 0 ? 900 : 500) ? SEEN : UNSEEN));
    const { held, kept, out } = parts(
      await chooseTestRows(facts(1000, { groups }), { ...CHOICE, seen, embargo: 10 }),
    );
    assert.equal(held.length, 145);
    assert.ok(held.every((row) => seen[row] === UNSEEN && row > 800));
    assert.deepEqual(out, range(held[0]! - 10, held[0]!));
    const later = kept.filter((row) => row > held[0]!);
    assert.ok(later.length > 10 && later.every((row) => groups[row] === 0 && row < 900));
    assert.ok(kept.includes(503) && held.includes(999));
  });

  it('classes: some of the newest rows must be of another class than the usual one', async () => {
    const rare = (rows: number[]) => {
      const codes = new Int32Array(1000);
      rows.forEach((row) => (codes[row] = 1));
      return facts(1000, {
        task: 'classification',
        codes,
        counts: [1000 - rows.length, rows.length],
        classes: ['no', 'yes'],
      });
    };
    const seen = seenUntil(1000, 800);
    const without = await chooseTestRows(rare([3, 30, 300, 500, 700, 850]), { ...CHOICE, seen });
    assert.ok('tooFew' in without && without.tooFew.startsWith('only 0 of the newest rows'));
    parts(await chooseTestRows(rare([3, 30, 300, 910, 920, 930, 940, 950]), { ...CHOICE, seen }));
  });
});

describe('chooseTestRows, without an order', () => {
  it('takes half of the rows that the champion has not seen, each class alike', async () => {
    const codes = Int32Array.from({ length: 1000 }, (_, row) => (row % 10 === 0 ? 1 : 0));
    const given = facts(1000, {
      order: 'none',
      task: 'classification',
      codes,
      counts: [900, 100],
      classes: ['a', 'b'],
    });
    const seen = Uint8Array.from({ length: 1000 }, (_, row) =>
      row % 4 === 1 || row % 20 === 0 ? UNSEEN : SEEN,
    );
    const { held } = parts(await chooseTestRows(given, { ...CHOICE, seen }));
    assert.ok(held.every((row) => seen[row] === UNSEEN));
    assert.equal(held.length, 150);
    assert.equal(held.filter((row) => codes[row] === 1).length, 25);
  });

  it('leaves rows whose past is uncertain to the fit, and never splits a group or takes one that is known', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ group: fc.nat(60), what: fc.constantFrom(SEEN, UNSEEN, UNSEEN, UNCERTAIN) }), {
          minLength: 200,
          maxLength: 600,
        }),
        async (rows) => {
          const groups = Int32Array.from(rows, ({ group }) => group);
          const seen = Uint8Array.from(rows, ({ what, group }) =>
            group > 20 && what === SEEN ? UNSEEN : what,
          );
          const chosen = await chooseTestRows(facts(rows.length, { order: 'none', groups }), {
            ...CHOICE,
            seen,
          });
          if ('tooFew' in chosen) {
            return;
          }
          const { held, kept } = parts(chosen);
          const groupsHeld = new Set(held.map((row) => groups[row]));
          assert.ok(held.every((row) => seen[row] === UNSEEN));
          assert.ok(kept.every((row) => seen[row] !== UNSEEN || !groupsHeld.has(groups[row])));
          assert.ok(rows.every((_, row) => seen[row] !== SEEN || !groupsHeld.has(groups[row])));
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('seen rows', () => {
  it('tell each row of a train set again, and those that were not in it', async () => {
    const digests = Float64Array.from({ length: 5000 }, (_, row) => (row + 1) * 2 ** 33 + row);
    const kept = await keepDigests(digests);
    assert.ok((await whichSeen(kept, digests)).every((one) => one === SEEN));
    assert.ok(
      (
        await whichSeen(
          kept,
          digests.map((one) => one + 1),
        )
      ).every((one) => one === UNSEEN),
    );
  });

  it('of a long one only a sample is kept, and the others are uncertain', async () => {
    const digests = Float64Array.from({ length: 50_000 }, (_, row) => row * 1000);
    const kept = await keepDigests(digests);
    assert.ok(kept.digests.length < 170_000);
    const told = await whichSeen(kept, Float64Array.of(1000, 1001, 40_000_000));
    assert.deepEqual([...told], [SEEN, UNSEEN, UNCERTAIN]);
  });
});
