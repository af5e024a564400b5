import { randomUUID } from 'node:crypto';

import type { UploadSource } from '../types';
import type { HttpRequest } from './exchange';

/** The body of the deprecated route (S 4.7): `data` as JSON beside `file` as CSV, of known length. */
export function multipart(
  data: object,
  file: UploadSource,
): { contentType: string; bytes: number; body: NonNullable<HttpRequest['body']> } {
  const boundary = `----${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="data"\r\n` +
      `Content-Type: application/json\r\n\r\n${JSON.stringify(data)}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n` +
      'Content-Type: text/csv\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = head.length + file.bytes + tail.length;
  const open = async function* () {
    yield head;
    for await (const part of file.open() as AsyncIterable<Uint8Array>) {
      yield part;
    }
    yield tail;
  };
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes, body: { bytes, open } };
}
