import { getHeapStatistics } from 'node:v8';

import type { FeatureColumn } from '../../../learner';
import { cellsOf, type ColumnData } from '../../../table/columns/column-batch';
import { Refusal } from '../../refusal';
import type { FeatureShape } from '../../store/entries/entries';
import { cellNumbers } from './cell-numbers';
import { LastRead, RowStore } from './row-store';
import { SpillFile } from './spill-file';
import { TextDictionary, type TextRoom } from './text-dictionary';
import { TextNeed } from './text-need';

/** Bytes of columns that stay in memory: numbers and codes of a whole file, and its texts. */
const NUMBER_BYTES = 128 * 1024 * 1024;
const TEXT_BYTES = 64 * 1024 * 1024;
/** Part of the heap of this thread that the texts of one column may take. */
const HEAP_SHARE = 0.8;
/** Up to this many bytes, texts become strings at once, which is quicker. */
const LITTLE_TEXT = 256 * 1024;

/** Gathers the cells of one column as the learner takes them. */
interface FeatureBuilder {
  /** @throws Refusal 422 for a value of the wrong type, 413 for more text than the memory bears */
  add(data: ColumnData, row: number): void;
  finish(rows: number): FeatureColumn;
}

/** Where the columns of one file are kept. */
export interface ColumnStore {
  builders: FeatureBuilder[];
  /** Removes what is on disk; the columns must not be read after that. */
  close: () => void;
}

/**
 * Builders for the columns of a file. Columns that do not fit in memory go to a file; they are read back one at a time,
 * when the learner asks for them.
 *
 * @param fitFolder of a fit: where that file goes; without one everything stays in memory
 */
export function columnStore(
  shapes: readonly FeatureShape[],
  rows: number,
  fitFolder: string | undefined,
): ColumnStore {
  const spill = fitFolder === undefined ? undefined : new SpillFile(fitFolder);
  const room: TextRoom = { left: TEXT_BYTES, spill };
  const numbers = shapes.reduce((sum, { kind }) => sum + rows * (kind === 'text' ? 4 : 8), 0);
  const onDisk = spill !== undefined && numbers > NUMBER_BYTES ? spill : undefined;
  const last = new LastRead();
  const texts = (): Texts => {
    const need = new TextNeed(fitFolder !== undefined);
    return { need, dictionary: new TextDictionary(room, need) };
  };
  const builders = shapes.map((shape) =>
    shape.kind === 'text'
      ? textBuilder(shape, new RowStore(Int32Array, rows, onDisk), texts(), last)
      : numberBuilder(shape, shape.kind, new RowStore(Float64Array, rows, onDisk), last),
  );
  return { builders, close: () => spill?.close() };
}

interface Texts {
  need: TextNeed;
  dictionary: TextDictionary;
}

function textBuilder(
  { name }: FeatureShape,
  store: RowStore<Int32Array>,
  { dictionary, need }: Texts,
  last: LastRead,
): FeatureBuilder {
  return {
    add(data, row) {
      store.put(codesOf(data, dictionary), row);
      if (need.bytes > heapForTexts()) {
        throw tooMuchText(name, row);
      }
    },
    finish(rows) {
      if (store.inMemory && need.strings <= LITTLE_TEXT) {
        return { name, kind: 'text', codes: store.read(rows), dictionary: dictionary.toStrings() };
      }
      const column = {
        name,
        kind: 'text' as const,
        get codes(): Int32Array {
          return last.get(column, 'codes', () => store.read(rows));
        },
        get dictionary(): string[] {
          return last.get(column, 'dictionary', () => dictionary.toStrings());
        },
      };
      return column;
    },
  };
}

function codesOf(data: ColumnData, dictionary: TextDictionary): Int32Array {
  if (data.type !== 'text') {
    const cells = cellsOf(data);
    const codes = new Int32Array(cells.length);
    cells.forEach((cell, at) => {
      const text = cell instanceof Date ? cell.toISOString() : String(cell);
      const bytes = Buffer.from(text);
      codes[at] = cell === null ? -1 : dictionary.codeOf(bytes, 0, bytes.length);
    });
    return codes;
  }
  const { offsets, missing } = data;
  const bytes = Buffer.from(data.bytes.buffer, data.bytes.byteOffset, data.bytes.byteLength);
  const codes = new Int32Array(offsets.length - 1);
  for (let at = 0; at < codes.length; at++) {
    codes[at] = missing?.[at] === 1 ? -1 : dictionary.codeOf(bytes, offsets[at]!, offsets[at + 1]!);
  }
  return codes;
}

/** Bytes. */
function heapForTexts(): number {
  return (heapLimit ??= getHeapStatistics().heap_size_limit) * HEAP_SHARE;
}

let heapLimit: number | undefined;

function tooMuchText(name: string, row: number): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'LIMIT_EXCEEDED',
    message:
      `Column "${name}" holds more different text than the memory of this service bears: by row ${row + 1} it needs ` +
      `more than ${Math.floor(heapForTexts() / 1e6)} MB. Leave the column out, shorten its texts, or use fewer rows.`,
    retryable: false,
  });
}

function numberBuilder(
  shape: FeatureShape,
  kind: 'number' | 'date',
  store: RowStore<Float64Array>,
  last: LastRead,
): FeatureBuilder {
  return {
    add: (data, row) => store.put(cellNumbers(data, shape, kind, row), row),
    finish(rows) {
      const { name } = shape;
      if (store.inMemory) {
        return { name, kind, values: store.read(rows) };
      }
      const column = {
        name,
        kind,
        get values(): Float64Array {
          return last.get(column, 'values', () => store.read(rows));
        },
      };
      return column;
    },
  };
}
