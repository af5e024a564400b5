import type { BodyPart } from '../../client';
import { ROW_SEPARATOR } from '../../table';

/** Some rows of a file of JSON rows. */
export interface RowsPart {
  part: BodyPart;
  rows: number;
}

/**
 * Splits JSON rows into parts of at most that many bytes; a row that alone has more is a part of its own.
 * Only the places of the cuts are held in memory.
 */
export async function cutRows(rows: BodyPart, maxBytes: number): Promise<RowsPart[]> {
  const parts: RowsPart[] = [];
  let from = 0;
  let count = 0;
  /** Where the last whole row of the part ends. */
  let end = 0;
  const close = (): void => {
    const [start, stop] = [from, end];
    const part = { bytes: stop - start, open: () => rows.open(start, stop) };
    parts.push({ part, rows: count });
    from = stop + ROW_SEPARATOR.length;
    count = 0;
  };
  for await (const rowEnd of rowEnds(rows)) {
    if (count > 0 && rowEnd - from > maxBytes) {
      close();
    }
    end = rowEnd;
    count++;
  }
  if (count > 0) {
    close();
  }
  return parts;
}

/** The first row alone. */
export async function firstRow(rows: BodyPart): Promise<BodyPart> {
  for await (const end of rowEnds(rows)) {
    return { bytes: end, open: () => rows.open(0, end) };
  }
  return rows;
}

/** Where each row ends: the byte after its last one. A line feed stands between rows only. */
async function* rowEnds(rows: BodyPart): AsyncIterable<number> {
  const lineFeed = ROW_SEPARATOR.charCodeAt(ROW_SEPARATOR.length - 1);
  let at = 0;
  for await (const chunk of rows.open() as AsyncIterable<Uint8Array>) {
    for (let found = chunk.indexOf(lineFeed); found >= 0; found = chunk.indexOf(lineFeed, found + 1)) {
      yield at + found + 1 - ROW_SEPARATOR.length;
    }
    at += chunk.length;
  }
  if (at > 0) {
    yield at;
  }
}
