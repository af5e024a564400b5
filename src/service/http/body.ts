import type { IncomingMessage, ServerResponse } from 'node:http';

import { parseJson } from '../../util/values';
import { invalid, Refusal } from '../refusal';
import { arriving, type SenderPatience } from '../slow-body';
import { assertJsonShape, type JsonBounds } from './json-shape';

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
