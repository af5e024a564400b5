import { strict as assert } from 'node:assert';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Bench, bench, history, row } from './stand-in';

type Cells = Record<string, unknown>;
const ROWS = 100;
const ids = (first: number, count = ROWS): number[] => Array.from({ length: count }, (_, i) => first + i);
const cellsOf = (id: number): unknown[] => Object.values(row(id));
const NAMES = Object.keys(row(0));

/** A window over rows, in one of the forms; it moves on by one row, and a row of it is changed in place. */
interface Window {
  value: unknown;
  move(): void;
  /** The ids and the shares of cats of an outcome's table, row by row. */
  read(table: unknown): [id: unknown, cat: unknown][];
}

const catOf = (shares: unknown): unknown => (shares as { cat: number }).cat;

const windows: Record<string, () => Window> = {
  rows: () => {
    const value: Cells[] = ids(0).map(row);
    return {
      value,
      move: () => {
        value.shift();
        value.push(row(ROWS));
        value[5]!.id = -1;
      },
      read: (table) =>
        (table as Cells[]).map(({ id, prediction_probabilities }) => [id, catOf(prediction_probabilities)]),
    };
  },
  columns: () => {
    const value = Object.fromEntries(
      NAMES.map((name, index) => [name, ids(0).map((id) => cellsOf(id)[index])]),
    );
    return {
      value,
      move: () => {
        for (const [index, name] of NAMES.entries()) {
          value[name]!.shift();
          value[name]!.push(cellsOf(ROWS)[index]);
        }
      },
      read: (table) => {
        const { id, prediction_probabilities } = table as Record<string, unknown[]>;
        return id!.map((one, index) => [one, catOf(prediction_probabilities![index])]);
      },
    };
  },
  matrix: () => {
    const value: unknown[][] = [[...NAMES], ...ids(0).map(cellsOf)];
    return {
      value,
      move: () => {
        value.splice(1, 1);
        value.push(cellsOf(ROWS));
        value[5]![0] = -1;
      },
      read: (table) => (table as unknown[][]).slice(1).map((cells) => [cells[0], catOf(cells.at(-1))]),
    };
  },
};

describe('A table that changes while it is predicted', () => {
  let at: Bench;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'changed-'));
    at = await bench({ predictMs: 60 });
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
  });

  afterEach(async () => {
    await at.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const predicting = async (): Promise<void> => {
    while (at.service.seen('predict').length === 0) {
      await sleep(2);
    }
    await sleep(20);
  };

  for (const [form, make] of Object.entries(windows)) {
    for (const moment of ['at once', 'in flight']) {
      it(`${form} of a window that moves on ${moment} keep their own predictions`, async () => {
        const window = make();
        const before = structuredClone(window.value);
        const work = at.connection.predict({ table: { value: window.value }, model: 'pets' });
        if (moment === 'in flight') {
          await predicting();
          assert.deepEqual(window.value, before);
        }
        window.move();
        const moved = structuredClone(window.value);
        const { table } = await work;
        const found = window.read(table);
        assert.deepEqual(
          found,
          // Cells of a row that is changed at once are taken before or after that: not half of them.
          found.map(([id]) => [id, id === -1 ? catOfId(-1) : catOfId(id as number)]),
        );
        assert.deepEqual(
          found.map(([id]) => id).filter((id) => id !== -1),
          moment === 'in flight' ? ids(0) : ids(0).filter((id) => found[id]![0] !== -1),
        );
        assert.deepEqual(window.value, moved, 'what came in was changed');
      });
    }
  }

  const catOfId = (id: number): number => 1 / (id + 2);

  const lines = (first: number, count: number): string =>
    `${NAMES.join()}\n${ids(first, count)
      .map((id) => cellsOf(id).join())
      .join('\n')}\n`;

  for (const [kind, rows] of [
    ['small CSV', 6],
    ['long CSV', 21_000],
    ['Parquet', 21_000],
  ] as const) {
    for (const way of ['overwritten', 'replaced']) {
      it(`a file (${kind}) ${way} in flight is an error, not another file's predictions`, async () => {
        const where = path.join(folder, kind === 'Parquet' ? 'in.parquet' : 'in.csv');
        const contents = await Promise.all(
          // As many bytes in both: the size tells nothing.
          [100_000, 200_000].map(async (first) => {
            const text = lines(first, rows);
            if (kind !== 'Parquet') {
              return text;
            }
            const { id } = await at.connection.upload({ set: 'test', table: { value: text }, model: 'pets' });
            return at.service.bytesOf(id);
          }),
        );
        writeFileSync(where, contents[0]!);
        const ask = { table: { path: where }, model: 'pets' };
        assert.equal(((await at.connection.predict(ask)).table as unknown[]).length, rows);
        at.service.requests.length = 0;
        const work = at.connection.predict(ask);
        const refused = assert.rejects(work, (error: { code?: string; message: string }) => {
          assert.equal(error.code, 'file.unreadable', error.message);
          assert.match(error.message, /in\.(csv|parquet)" was changed while it was/);
          return true;
        });
        await predicting();
        if (way === 'overwritten') {
          writeFileSync(where, contents[1]!);
        } else {
          writeFileSync(`${where}.new`, contents[1]!);
          renameSync(`${where}.new`, where);
        }
        await refused;
        // It may be predicted as it is now.
        const { table } = await at.connection.predict(ask);
        assert.equal(Number((table as Cells[])[0]!.id), 200_000);
      });
    }
  }
});
