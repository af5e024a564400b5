import { createHash } from 'node:crypto';

import { multipartOf } from '../helpers/strict-http';
import { crc32cBase64 } from '../helpers/strict-tables';
import type { Json } from './contract-node-red';
import type { Recorded } from './played-service';

/** A request as it is recorded. A Parquet file is told by what it holds: how it is packed may change. */
export interface Sent {
  request: string;
  headers: Json;
  body?: unknown;
}

/** Headers of the connection, which any client chooses by itself. */
const OF_CONNECTION = new Set([
  'host',
  'connection',
  'proxy-connection',
  'content-length',
  'date',
  'keep-alive',
]);
const BOUNDARY = /boundary=.*$/;

/** Requests from that one on, in the order in which they came; files that are sent side by side in the order of their addresses. */
export async function describeSent(recorded: readonly Recorded[], from: number): Promise<Sent[]> {
  const nameOf = fileNames(recorded);
  const all: Sent[] = [];
  let puts: Sent[] = [];
  const endPuts = () => {
    all.push(...puts.sort((a, b) => (a.request < b.request ? -1 : 1)));
    puts = [];
  };
  for (const one of recorded.slice(from)) {
    const sent = await describe(one, nameOf);
    if (one.method === 'PUT') {
      puts.push(sent);
    } else {
      endPuts();
      all.push(sent);
    }
  }
  endPuts();
  return all;
}

async function describe(one: Recorded, nameOf: (text: string) => string): Promise<Sent> {
  const { method, host, path, headers, bytes } = one;
  const own = Object.entries(headers)
    .filter(([name]) => !OF_CONNECTION.has(name))
    .map(([name, value]) => [name, value.replace(BOUNDARY, 'boundary=…')])
    .sort(([a], [b]) => (a! < b! ? -1 : 1));
  const sent: Sent = { request: `${method} http://${host}${path}`, headers: Object.fromEntries(own) as Json };
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) !== bytes.length) {
    throw new Error(`${sent.request}: ${bytes.length} bytes, announced ${headers['content-length']}`);
  }
  if (bytes.length > 0) {
    sent.body = await bodyOf(one, nameOf);
  }
  return sent;
}

async function bodyOf({ headers, bytes }: Recorded, nameOf: (text: string) => string): Promise<unknown> {
  if (headers['content-type']?.startsWith('multipart/') === true) {
    return [...multipartOf({ headers, bytes })].map(([name, part]) => ({
      name,
      type: part.type,
      text: part.bytes.toString('utf8'),
    }));
  }
  return isParquet(bytes) ? { parquet: await parquetOf(bytes) } : nameOf(bytes.toString('utf8'));
}

const isParquet = (bytes: Buffer): boolean => bytes.subarray(0, 4).toString('latin1') === 'PAR1';

/** Replaces the sizes and checksums of Parquet files in JSON, where they are those of a file that was sent. */
function fileNames(recorded: readonly Recorded[]): (text: string) => string {
  const files = recorded.filter(({ method, bytes }) => method === 'PUT' && isParquet(bytes));
  const names = new Map<string, string>();
  files.forEach(({ bytes }) => {
    names.set(crc32cBase64(bytes), '<CRC32C of the file>');
    names.set(createHash('sha256').update(bytes).digest('hex'), '<SHA-256 of the file>');
  });
  const sizes = new Set(files.map(({ bytes }) => bytes.length));
  return (text) =>
    text
      .replace(/hash":"([^"]+)"/g, (_all, hash: string) => `hash":"${names.get(hash) ?? hash}"`)
      // A CSV file may have as many bytes.
      .replace(/\{[^{}]*\}/g, (object) =>
        object.includes('csv')
          ? object
          : object.replace(/"size_bytes":(\d+)/g, (all, size: string) =>
              sizes.has(Number(size)) ? '"size_bytes":"<bytes of the file>"' : all,
            ),
      );
}

async function parquetOf(bytes: Buffer): Promise<Json> {
  const { parquetMetadata, parquetReadObjects } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const columns = parquetMetadata(file)
    .schema.slice(1)
    .map(({ name, type, converted_type: converted, logical_type: logical, repetition_type: repetition }) =>
      [name, repetition, type, converted, logical && JSON.stringify(logical)].filter(Boolean).join(' '),
    );
  const rows = (await parquetReadObjects({ file, compressors })) as Json[];
  return { columns, rows: rows.map((row) => JSON.stringify(row, (_name, value: unknown) => plain(value))) };
}

function plain(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 1000) {
    return `${value.slice(0, 20)}… of ${value.length} characters`;
  }
  return typeof value === 'bigint' ? `${value}n` : value;
}
