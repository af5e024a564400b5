import type { IncomingMessage, ServerResponse } from 'node:http';

import { isObject, parseJson } from '../../util/values';
import { invalid, Refusal } from '../refusal';
import { arriving, type SenderPatience } from '../slow-body';

/** How large a JSON body may be, and of how much structure. */
export interface BodyBounds {
  bytes: number;
  shape?: JsonBounds;
}

const BRINGS_ROWS = /"[Xx]_test"/;

/** The bytes of a request body, at most `maxBytes` of them. @throws Refusal 413, 408 (too slow) */
export async function readBody(
  req: IncomingMessage,
  maxBytes: number,
  patience: SenderPatience,
): Promise<Buffer> {
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > maxBytes) {
    throw tooLarge(maxBytes);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of arriving(req, patience)) {
    size += chunk.length;
    if (size > maxBytes) {
      throw tooLarge(maxBytes);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A JSON request body. @throws Refusal 408, 413; 422 for another content type, broken UTF-8, broken JSON, or too much structure */
export async function readJson(
  req: IncomingMessage,
  max: BodyBounds,
  patience: SenderPatience,
): Promise<unknown> {
  const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type !== 'application/json') {
    throw invalid(`The Content-Type of this request must be application/json, not ${type || 'empty'}.`);
  }
  const bytes = await readBody(req, max.bytes, patience);
  assertJsonShape(bytes, max.shape);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // Rows may hold whole numbers beyond 2^53, and what JSON has no number for.
    return BRINGS_ROWS.test(text) ? parseJson(withNulls(text)) : JSON.parse(text);
  } catch {
    throw invalid('The request body is not valid JSON in UTF-8.');
  }
}

const NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g;

/** Bare NaN and Infinity, which some languages write into JSON, as null: such a cell is missing. Strings stay. */
function withNulls(text: string): string {
  return /\b(?:NaN|Infinity)\b/.test(text)
    ? text.replace(NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null'))
    : text;
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'PAYLOAD_TOO_LARGE',
    message: `The request body is larger than ${maxBytes} bytes.`,
  });
}

/** Whether a body is still arriving. A request without one is complete as soon as its headers are. */
export function isBodyComing(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return !req.complete && !req.destroyed && (encoding !== undefined || Number(length ?? 0) > 0);
}

/** How much of a refused body is read and discarded, so that its sender gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 2_000;

/**
 * Ends a request whose body was not read completely: a small rest is read and discarded, so that the sender sees the
 * answer instead of a reset; then the connection is closed.
 */
export function discardBody(req: IncomingMessage, res: ServerResponse): void {
  if (!isBodyComing(req)) {
    return;
  }
  if (!res.headersSent) {
    res.setHeader('connection', 'close');
  }
  let size = 0;
  const timer = setTimeout(() => req.destroy(), DRAIN_MS);
  timer.unref();
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DRAIN_BYTES) {
      req.destroy();
    }
  });
  req.on('close', () => clearTimeout(timer));
  req.on('error', () => undefined);
  req.resume();
}

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
export async function readBytes(part: FormDataEntryValue): Promise<Uint8Array> {
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
  const { payload_format: own, ...body } = asJson(await readBytes(sent), max);
  const format = own ?? form.get('payload_format') ?? 'parquet';
  if (format !== 'parquet') {
    throw invalid('Invalid request: payload_format of a form must be parquet.');
  }
  for (const [name, part] of form) {
    if (ROW_FILES.has(name)) {
      body[name] = [await readBytes(part)];
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

/** Deeper nesting would exhaust the stack of code that walks through it. */
const MAX_DEPTH = 64;
/**
 * Lists, objects and properties of a body, which cost far more to parse and check than the numbers of a list: half a
 * million of them blocked the HTTP thread for seconds.
 */
const MAX_NODES = 20_000;
/** Values of its lists, each of which costs a little: four million held the thread for three quarters of a second. */
const MAX_VALUES = 1_500_000;
/** Texts among them, which cost more than numbers. */
const MAX_TEXTS = 150_000;

/** How much structure a body may have. */
interface JsonBounds {
  /** Lists, objects and properties. */
  nodes: number;
  /** Values of lists. */
  values: number;
  /** Texts, names of properties included. */
  texts: number;
}

const OF_CONFIG: JsonBounds = { nodes: MAX_NODES, values: MAX_VALUES, texts: MAX_TEXTS };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Bounds the structure of a JSON text before it is parsed. JSON's syntax characters are single bytes in UTF-8, so the
 * bytes can be scanned as they are.
 *
 * @throws Refusal 422
 */
export function assertJsonShape(bytes: Uint8Array, most: JsonBounds = OF_CONFIG): void {
  let depth = 0;
  let nodes = 0;
  let values = 0;
  let texts = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        texts += 1;
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        nodes += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COLON:
        nodes += 1;
        break;
      default:
        continue;
    }
    if (depth > MAX_DEPTH) {
      throw invalid(`The request body nests more than ${MAX_DEPTH} levels.`);
    }
    if (nodes > most.nodes) {
      throw invalid(`The request body has more than ${most.nodes} lists, objects and properties.`);
    }
    if (values > most.values || texts > most.texts) {
      throw invalid(`The request body has more than ${most.values} values, or ${most.texts} texts.`);
    }
  }
}

/** End of the string that begins at `at`. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = at;
  do {
    end = bytes.indexOf(QUOTE, end + 1);
  } while (end >= 0 && isEscaped(bytes, end));
  return end < 0 ? bytes.length : end;
}

/** Whether an odd number of backslashes comes before it. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let before = at;
  while (bytes[before - 1] === BACKSLASH) {
    before -= 1;
  }
  return (at - before) % 2 === 1;
}
