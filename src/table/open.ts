import { asBytes } from '../util/realms';
import { openArrowBytes } from './arrow/source';
import { emptyTable, invalidTable } from './cells/errors';
import type { TableSource } from './columns/slices';
import { bufferChunks, CsvSource, decodedPieces, stringPieces } from './csv/source';
import { openRemote } from './encoder/remote-source';
import { openJsonText } from './json/source';
import { Utf8Text } from './text/byte-text';
import { contentOf, firstCharacter, wideEncoding } from './text/sniff';
import { openValue } from './values/open';

export interface OpenOptions {
  signal?: AbortSignal;
}

/**
 * A table in memory, in any of the forms that docs/architecture.md lists. The value is not copied: it must not change
 * while it is read. Errors: `table.empty`, `table.invalid` with what was wrong and where.
 */
export async function openTable(value: unknown, options: OpenOptions = {}): Promise<TableSource> {
  if (typeof value === 'string') {
    return openText(value, options.signal);
  }
  const bytes = asBytes(value);
  if (bytes !== undefined) {
    return openBytes(bytes, options.signal);
  }
  return openValue(value, undefined, options.signal);
}

async function openText(text: string, signal?: AbortSignal): Promise<TableSource> {
  const start = firstCharacter(text);
  if (start === '') {
    throw emptyTable('The text is empty; a CSV table needs a header line and rows.');
  }
  if (start === '{' || start === '[') {
    return openJsonText(text, signal);
  }
  return CsvSource.open('parsed', stringPieces(text));
}

async function openBytes(bytes: Uint8Array, signal?: AbortSignal): Promise<TableSource> {
  if (bytes.length === 0) {
    throw emptyTable('The Buffer is empty.');
  }
  switch (contentOf(bytes)) {
    case 'parquet':
      return openRemote({ kind: 'bytes', bytes }, signal);
    case 'arrow':
      return openArrowBytes(bytes);
    case 'json':
      return openJsonText(
        wideEncoding(bytes) !== undefined ? await decodeAll(bytes) : new Utf8Text(bytes),
        signal,
      );
    case 'gzip':
      throw invalidTable('The Buffer is gzip-compressed. Unpack it before this node.');
    case 'binary':
      throw invalidTable('The Buffer holds neither text (CSV, JSON) nor Parquet nor Arrow.');
    case 'csv':
      return CsvSource.open('parsed', decodedPieces(bufferChunks(bytes), bytes.length));
  }
}

async function decodeAll(bytes: Uint8Array): Promise<string> {
  let text = '';
  for await (const piece of decodedPieces(bufferChunks(bytes), bytes.length)()) {
    text += piece;
  }
  return text;
}
