import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readRows } from '../../../dist/src/program-table';
import { closeEncoder, openTable, openTableFile } from '../../../dist/src/table';
import { withFolder } from './helpers';

const OPEN_END = '9999-12-31T00:00:00.000Z';
const ROWS_OF_PYARROW = [
  { y: 1, valid_to: OPEN_END },
  { y: 2, valid_to: '2024-01-02T12:00:00.000Z' },
  { y: 3, valid_to: null },
];

/** Files of some hundred bytes; in those of pyarrow one day was set to the last of the year 9999. */
const FILES: [string, string, object[]][] = [
  [
    'without pairs in its footer',
    'UEFSMRUAFWAVYCwVCBUAFQYVBgAAAAAAAAAAAACXiiUAAAAAAAAAAAAs/lEAAAAAAAAAAABSRBoAAICnSEonAAAviyUAFQAVIBUgLBUIFQAVBhUGAAAAAAAAAQAAAAIAAAADAAAAFQIZPEgGc2NoZW1hFQQAFQYlABgIdmFsaWRfdG8AFQIlABgBeQAWCBkcGSwmCBwVBhkVABkYCHZhbGlkX3RvFQAWCBaCARaCASYIAAAmigEcFQIZFQAZGAF5FQAWCBZCFkImigEAABbEARYIACgHYnkgaGFuZAB3AAAAUEFSMQ==',
    [
      { valid_to: '2024-01-01T00:00:00.000Z', y: 0 },
      { valid_to: OPEN_END, y: 1 },
      { valid_to: '0001-01-01T00:00:00.000Z', y: 2 },
      { valid_to: '2024-06-01T12:00:00.000Z', y: 3 },
    ],
  ],
  [
    'of pyarrow',
    'UEFSMRUAFSQVJCwVBhUAFQYVBhwAAAACAAAABgEBAAAAAgAAAAMAAAAVABU8FTwsFQYVABUGFQYcAAAAAgAAAAMDAAAAAAAAAAAs/lEAAICnSEonAACYiiUAFQQZPDUAGAZzY2hlbWEVBAAVAiUCGAF5ABUGJQIYCHZhbGlkX3RvABYGGRwZLCYAHBUCGSUGABkYAXkVABYGFkoWSiYISRwVABUAFQIAPCkGGSYABgAAACYAHBUGGSUGABkYCHZhbGlkX3RvFQAWBhZiFmImUkkcFQAVABUCADwpBhkmAgQAAAAWrAEWBiYIFqwBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNS4wLjEZLBwAABwAAAC/AAAAUEFSMQ==',
    ROWS_OF_PYARROW,
  ],
  [
    'of pyarrow, with a pair in its footer',
    'UEFSMRUAFSQVJCwVBhUAFQYVBhwAAAACAAAABgEBAAAAAgAAAAMAAAAVABU8FTwsFQYVABUGFQYcAAAAAgAAAAMDAAAAAAAAAAAs/lEAAICnSEonAACYiiUAFQQZPDUAGAZzY2hlbWEVBAAVAiUCGAF5ABUGJQIYCHZhbGlkX3RvABYGGRwZLCYAHBUCGSUGABkYAXkVABYGFkoWSiYISRwVABUAFQIAPCkGGSYABgAAACYAHBUGGSUGABkYCHZhbGlkX3RvFQAWBhZiFmImUkkcFQAVABUCADwpBhkmAgQAAAAWrAEWBiYIFqwBABksGAZzb3VyY2UYB2J5IGhhbmQAGAxYUlJPVzpzY2hlbWEYzAIvLy8vLy9BQUFBQVFBQUFBQUFBS0FBNEFCZ0FGQUFnQUNnQUFBQUFCQkFBUUFBQUFBQUFLQUF3QUFBQUVBQWdBQ2dBQUFEd0FBQUFFQUFBQUFRQUFBQXdBQUFBSUFBd0FCQUFJQUFnQUFBQVVBQUFBQkFBQUFBY0FBQUJpZVNCb1lXNWtBQVlBQUFCemIzVnlZMlVBQUFJQUFBQk1BQUFBQkFBQUFNei8vLzhBQUFFS0VBQUFBQ0FBQUFBRUFBQUFBQUFBQUFnQUFBQjJZV3hwWkY5MGJ3QUFCZ0FJQUFZQUJnQUFBQUFBQWdBUUFCUUFDQUFHQUFjQURBQUFBQkFBRUFBQUFBQUFBUUlRQUFBQUhBQUFBQVFBQUFBQUFBQUFBUUFBQUhrQUFBQUlBQXdBQ0FBSEFBZ0FBQUFBQUFBQklBQUFBQUFBQUFBPQAYIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjUuMC4xGSwcAAAcAAAAMQIAAFBBUjE=',
    ROWS_OF_PYARROW,
  ],
];

describe('Parquet with times of 96 bits, as Spark writes them', () => {
  after(closeEncoder);

  for (const [name, base64, rows] of FILES) {
    it(`has each day of the years 1 to 9999: ${name}`, () =>
      withFolder(async (folder) => {
        const bytes = Buffer.from(base64, 'base64');
        const file = path.join(folder, 'times.parquet');
        await writeFile(file, bytes);
        for (const source of [await openTable(bytes), await openTableFile(file)]) {
          assert.deepEqual(JSON.parse(JSON.stringify(await readRows(source))), rows);
        }
      }));
  }
});
