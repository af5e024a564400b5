import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { profileTable, readRows } from '../../../dist/src/program-table';
import { closeEncoder, openTable, openTableFile } from '../../../dist/src/table';
import { decodeLz4, decodeZstd } from '../../doors/table';
import { withFolder } from './helpers';

/** Written by pyarrow 25: 200 rows in record batches of 64, with missing values, text and a dictionary. */
const fixture = (name: string): Buffer => readFileSync(path.join(__dirname, `../../fixtures/table-${name}`));
const NAMES = ['lz4.feather', 'zstd.feather', 'lz4.arrows', 'zstd.arrows'];

const ROWS = Array.from({ length: 200 }, (_, i) => ({
  n: i % 7 === 3 ? null : i / 3,
  i: i * 3,
  text: i % 11 === 5 ? null : `hall ${i % 5}`,
  cat: 'abca'[i % 4],
  on: i % 2 === 0,
  t: new Date(Date.UTC(2024, 0, 1, i)),
}));

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as { code?: string }).code ?? 'no code',
  );

describe('Arrow with compressed record batches', () => {
  after(closeEncoder);

  for (const name of NAMES) {
    it(`is read as pandas writes it: ${name}`, () =>
      withFolder(async (folder) => {
        const bytes = fixture(name);
        const file = path.join(folder, name);
        await writeFile(file, bytes);
        for (const source of [await openTable(bytes), await openTableFile(file)]) {
          assert.deepEqual(await readRows(source), ROWS);
          const { columns, rows, warnings } = await profileTable(source);
          assert.deepEqual(
            columns.map(({ type }) => type),
            ['number', 'integer', 'text', 'text', 'boolean', 'date'],
          );
          assert.deepEqual([rows, warnings], [200, []]);
        }
      }));

    it(`is an error of the table where it is damaged, never one of this package: ${name}`, async () => {
      const bytes = fixture(name);
      let refused = 0;
      for (let at = 9; at < bytes.length; at += 211) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed[at]! ^ 0x55, at);
        for (const damaged of [changed, bytes.subarray(0, at)]) {
          const code = await codeOf(openTable(damaged).then(readRows));
          assert.ok(['none', 'table.invalid', 'table.empty'].includes(code), `${code} at ${at}`);
          refused += code === 'none' ? 0 : 1;
        }
      }
      assert.ok(refused > 10);
    });
  }
});

/** The same text as the command line tools compress it. */
const TEXT = Buffer.from(Array.from({ length: 2000 }, (_, i) => `${(i * 7919) % 107},`).join(''));
const FRAMES: [string, typeof decodeLz4, string][] = [
  [
    'lz4 -c -9 -BD -B4',
    decodeLz4,
    'BCJNGGRAp18BAADw/xIwLDEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzLDE0LDE1LDE2LDE3LDE4LDE5LDIwLDIxLDIyLDIzLDI0LDI1LDI2LDI3LDI4LDI5LDMwLDMxLDMyLDMzLDM0LDM1LDM2LDM3LDM4LDM5LDQwLDQxLDQyLDQzLDQ0LDQ1LDQ2LDQ3LDQ4LDQ5LDUwLDUxLDUyLDUzLDU0LDU1LDU2LDU3LDU4LDU5LDYwLDYxLDYyLDYzLDY0LDY1LDY2LDY3LDY4LDY5LDcwLDcxLDcyLDczLDc0LDc1LDc2LDc3LDc4LDc5LDgwLDgxLDgyLDgzLDg0LDg1LDg2LDg3LDg4LDg5LDkwLDkxLDkyLDkzLDk0LDk1LDk2LDk3LDk4LDkOAf8LMCwxMDEsMTAyLDEwMywxMDQsMTA1LDEwNiw+Af///////////////////////////+9QMiw3MywAAAAAvn4PJQ==',
  ],
  [
    'lz4 -c --content-size -BX',
    decodeLz4,
    'BCJNGHRAvV8BAAD//zAwLDEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzLDE0LDE1LDE2LDE3LDE4LDE5LDIwLDIxLDIyLDIzLDI0LDI1LDI2LDI3LDI4LDI5LDMwLDMxLDMyLDMzLDM0LDM1LDM2LDM3LDM4LDM5LDQwLDQxLDQyLDQzLDQ0LDQ1LDQ2LDQ3LDQ4LDQ5LDUwLDUxLDUyLDUzLDU0LDU1LDU2LDU3LDU4LDU5LDYwLDYxLDYyLDYzLDY0LDY1LDY2LDY3LDY4LDY5LDcwLDcxLDcyLDczLDc0LDc1LDc2LDc3LDc4LDc5LDgwLDgxLDgyLDgzLDg0LDg1LDg2LDg3LDg4LDg5LDkwLDkxLDkyLDkzLDk0LDk1LDk2LDk3LDk4LDk5LDEwMCwxMDEsMTAyLDEwMywxMDQsMTA1LDEwNiw+Af///////////////////////////+9QMiw3MyxJy1WhAAAAAL5+DyU=',
  ],
  [
    'zstd -c -1',
    decodeZstd,
    'KLUv/QRI3QQA5hMkCbDrJEmICFaSeR4AIQAhAF+3Xp36dOnR29mhHzdenPhw4cHLyYHfdk3Pctw5BDTPLHPMnTnDfLLJJZM8ssghV6YM8sUWV0zxxBJH3JgxRHZt2mBfbXXVVE8tddStWUN9tNFFEz200EGXJg30zTbXHBPwAS7AA3iBEzgAv9vuuumeW+64e/OG+2yzyyZ7bLEjAQA+7xXUrynqYqWp',
  ],
  [
    'zstd -c -19 --no-check',
    decodeZstd,
    'KLUv/QBo3QQA5hMkCbDrJEmICFaSeR4AIQAhAF+3Xp36dOnR29mhHzdenPhw4cHLyYHfdk3Pctw5BDTPLHPMnTnDfLLJJZM8ssghV6YM8sUWV0zxxBJH3JgxRHZt2mBfbXXVVE8tddStWUN9tNFFEz200EGXJg30zTbXHBPwAS7AA3iBEzgAv9vuuumeW+64e/OG+2yzyyZ7bLEjAQA+7xXUryk=',
  ],
];

describe('The decoders of compressed buffers', () => {
  for (const [tool, decode, base64] of FRAMES) {
    it(`give back what was compressed, and refuse another length: ${tool}`, () => {
      const frame = Buffer.from(base64, 'base64');
      assert.ok(Buffer.from(decode(frame, TEXT.length)).equals(TEXT));
      for (const length of [0, TEXT.length - 1, TEXT.length + 1]) {
        assert.throws(() => decode(frame, length));
      }
      for (let end = 0; end < frame.length - 8; end += 7) {
        assert.throws(() => decode(frame.subarray(0, end), TEXT.length));
      }
    });
  }

  it('do not take the memory that a small frame asks for', () => {
    // A window of 2 GB, and a single segment of as much.
    for (const head of ['28b52ffd00a8', '28b52ffda0ffffff7f']) {
      const frame = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(20)]);
      assert.throws(() => decodeZstd(frame, 100), /does not begin as one that can be read/);
    }
  });
});
