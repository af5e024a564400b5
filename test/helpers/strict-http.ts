/* How the strict service reads requests and sends answers, faults included. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Fault } from './strict-faults';

type Body = Record<string, unknown>;

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface Info {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

export function envelope(code: string, detail: string, retryable = false): Body {
  return { code, detail, retryable, support: 'https://support.example.org' };
}

export function notFound(message: string): Answer {
  return { status: 404, body: { message, error_code: 'NOT_FOUND', trace_id: randomUUID() } };
}

export function duplicate(code: string, id: Body): Answer {
  const body = { message: 'Duplicate upload', error_code: code, trace_id: randomUUID(), detail: null, ...id };
  return { status: 409, body };
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export async function readAll(req: IncomingMessage, fault: Fault): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (fault.reset === 'during') {
        req.socket.resetAndDestroy();
        return undefined;
      }
      chunks.push(chunk);
      if (fault.slowReadMs !== undefined) {
        await sleep(fault.slowReadMs);
      }
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

export function send(res: ServerResponse, answer: Answer): void {
  const json = typeof answer.body !== 'string';
  const bytes = Buffer.from(json ? JSON.stringify(answer.body) : (answer.body as string));
  res.writeHead(answer.status, {
    ...(json && { 'content-type': 'application/json' }),
    'content-length': bytes.length,
    ...answer.headers,
  });
  res.end(bytes);
}

export async function sendSpaces(res: ServerResponse, ms: number, everyMs: number): Promise<void> {
  res.writeHead(200, { 'content-type': 'application/json' });
  const end = Date.now() + ms;
  while (Date.now() < end && !res.destroyed) {
    res.write(' ');
    await sleep(Math.min(everyMs, Math.max(1, end - Date.now())));
  }
}

export async function sendCut(res: ServerResponse, answer: Answer, share: number): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(answer.body));
  res.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': bytes.length });
  res.write(bytes.subarray(0, Math.floor(bytes.length * share)));
  await sleep(20);
  res.socket?.resetAndDestroy();
}

export function multipartOf(info: Info): Map<string, { type: string; bytes: Buffer }> {
  const boundary = /boundary="?([^";]+)"?/.exec(info.headers['content-type'] ?? '')?.[1] ?? '';
  const parts = new Map<string, { type: string; bytes: Buffer }>();
  for (const piece of info.bytes.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const cut = piece.indexOf('\r\n\r\n');
    const head = piece.slice(0, cut);
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
    const type = /content-type:\s*(.+)/i.exec(head)?.[1]?.trim() ?? '';
    parts.set(name, { type, bytes: Buffer.from(piece.slice(cut + 4, -2), 'latin1') });
  }
  return parts;
}
