import { asBytes } from '../util/realms';
import { openArrowBytes } from './arrow/bytes';
import { isCompressed } from './arrow/compression';
import { emptyTable } from './cells/errors';
import type { SliceSource } from './columns/slices';
import { CsvSource } from './csv/source';
import { openJsonText } from './json/source';
import { LocalSource, RemoteSource, type TableSource } from './sources/sources';
import { BytesBlob } from './storage/blob';
import { Utf8Text } from './text/byte-text';
import { packedContent, toldSize, unpacked, wholeUnpacked } from './text/gunzip';
import { bufferChunks, decodedPieces, stringPieces } from './text/pieces';
import { type Content, contentOf, firstCharacter, noTable, wideEncoding } from './text/sniff';
import { openValue } from './values/open';

export interface OpenOptions {
  signal?: AbortSignal;
}

/**
 * A table in memory, in any of the forms that docs/architecture.md lists. The value is not copied: it must not change
 * while it is read. Errors: `table.empty`, `table.invalid` with what was wrong and where.
 */
export async function openTable(value: unknown, { signal }: OpenOptions = {}): Promise<TableSource> {
  if (typeof value === 'string') {
    return new LocalSource(await openText(value, signal));
  }
  const bytes = asBytes(value);
  if (bytes === undefined) {
    return new LocalSource(await openValue(value, undefined, signal));
  }
  if (bytes.length === 0) {
    throw emptyTable('The Buffer is empty.');
  }
  const content = contentOf(bytes);
  const isSlow = content === 'parquet' || (content === 'arrow' && (await isCompressed(new BytesBlob(bytes))));
  return isSlow
    ? RemoteSource.open({ kind: 'bytes', bytes }, signal)
    : new LocalSource(await openBytes(content, bytes, signal));
}

async function openText(text: string, signal?: AbortSignal): Promise<SliceSource> {
  const start = firstCharacter(text);
  if (start === '') {
    throw emptyTable('The text is empty; a CSV table needs a header line and rows.');
  }
  if (start === '{' || start === '[') {
    return openJsonText(text, signal);
  }
  return CsvSource.open('parsed', stringPieces(text));
}

async function openBytes(
  content: Exclude<Content, 'parquet'>,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<SliceSource> {
  switch (content) {
    case 'arrow':
      return openArrowBytes(bytes, signal);
    case 'json':
      return openJsonBytes(bytes, signal);
    case 'gzip':
      return openGzip(bytes, signal);
    case 'binary':
      throw noTable(bytes, 'The Buffer', 'holds neither text (CSV, JSON) nor Parquet nor Arrow.');
    case 'csv':
      return CsvSource.open('parsed', decodedPieces(bufferChunks(bytes), bytes.length));
  }
}

/** CSV in gzip, unpacked anew each time that it is read, or JSON. */
async function openGzip(bytes: Uint8Array, signal?: AbortSignal): Promise<SliceSource> {
  const chunks = bufferChunks(bytes);
  if ((await packedContent('The Buffer', chunks)) === 'json') {
    return openJsonBytes(await wholeUnpacked('The Buffer', chunks, signal), signal);
  }
  return CsvSource.open('parsed', decodedPieces(unpacked(chunks), toldSize(bytes)));
}

async function openJsonBytes(bytes: Uint8Array, signal?: AbortSignal): Promise<SliceSource> {
  return openJsonText(
    wideEncoding(bytes) !== undefined ? await decodeAll(bytes) : new Utf8Text(bytes),
    signal,
  );
}

async function decodeAll(bytes: Uint8Array): Promise<string> {
  let text = '';
  for await (const piece of decodedPieces(bufferChunks(bytes), bytes.length)()) {
    text += piece;
  }
  return text;
}
