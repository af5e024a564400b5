import type { IncomingMessage } from 'node:http';

import { isObject } from '../../util/values';
import { invalid } from '../refusal';
import type { SenderPatience } from '../slow-body';
import { type BodyBounds, readBody } from './body';
import { assertJsonShape } from './json-shape';

/** Does a request bring a form? */
export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');
}

/** A form, which is held in memory. @throws Refusal 408, 413; 422 for another content type or a broken form */
export async function readForm(
  req: IncomingMessage,
  maxBytes: number,
  patience: SenderPatience,
): Promise<FormData> {
  if (!isForm(req)) {
    throw invalid('This route takes multipart/form-data.');
  }
  const type = req.headers['content-type']!;
  const bytes = await readBody(req, maxBytes, patience);
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch {
    throw invalid('The multipart form cannot be read.');
  }
}

/** The bytes of a part, be it a file or a field. */
export async function bytesOf(part: FormDataEntryValue): Promise<Uint8Array> {
  return new Uint8Array(await (typeof part === 'string' ? new Blob([part]) : part).arrayBuffer());
}

/** Files of rows in a form, by the names of the JSON body that they stand in. */
const ROW_FILES = new Set(['X_train', 'y_train', 'X_test', 'x_train', 'x_test']);

/**
 * A request whose rows are Parquet files: the field `request` is the rest of the JSON body, and each file is the only
 * element of its rows.
 *
 * @throws Refusal 408, 413; 422 that names the part
 */
export async function readRowsForm(
  req: IncomingMessage,
  max: BodyBounds,
  patience: SenderPatience,
): Promise<Record<string, unknown>> {
  const form = await readForm(req, max.bytes, patience);
  const sent = form.get('request');
  if (sent === null) {
    throw invalid('Invalid request: the part "request" (JSON) is required.');
  }
  const { payload_format: own, ...body } = asJson(await bytesOf(sent), max);
  const format = own ?? form.get('payload_format') ?? 'parquet';
  if (format !== 'parquet') {
    throw invalid('Invalid request: payload_format of a form must be parquet.');
  }
  for (const [name, part] of form) {
    if (ROW_FILES.has(name)) {
      body[name] = [await bytesOf(part)];
    } else if (name !== 'request' && name !== 'payload_format') {
      throw invalid(`Invalid request: ${name} is an unknown part of the form.`);
    }
  }
  return body;
}

function asJson(bytes: Uint8Array, { shape }: BodyBounds): Record<string, unknown> {
  assertJsonShape(bytes, shape);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    body = undefined;
  }
  if (!isObject(body)) {
    throw invalid('Invalid request: the part "request" is not a JSON object in UTF-8.');
  }
  return { ...body };
}
