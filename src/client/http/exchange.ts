import type { Dispatcher } from 'undici';

/** One HTTP request. Each attempt opens a streamed body again. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: Buffer | { bytes: number; open(): AsyncIterable<Uint8Array> };
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

/** A request without a complete answer. */
export class TransportFailure extends Error {
  constructor(
    message: string,
    /** Code of the system or of undici: `ECONNREFUSED`. */
    readonly code: string | undefined,
    /** Whether any of the request may have been sent: false means that the service certainly has not seen it. */
    readonly sent: boolean,
  ) {
    super(message);
    this.name = 'TransportFailure';
  }
}

/** Code of a request that a proxy did not let through. */
export const PROXY_REFUSED = 'PROXY_REFUSED';

/** An answer longer than the request can call for. */
export class AnswerTooLong extends Error {}

/**
 * No time limit of the library's own: a fit may send white space for minutes, and the call's deadline bounds it. Said
 * with each request, because a pool may forget it: undici's way through a proxy to http does.
 */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/** Most bytes of an answer without a limit of its own: ids, limits, the report of a fit. */
export const MAX_ANSWER = 8 * 1024 * 1024;
const MAX_ERROR = 1024 * 1024;

/**
 * Sends one request and reads the whole answer. White space before a body is dropped as it comes (keepalive, S 1).
 * An answer that arrives while the body is still being sent ends the exchange.
 * @throws TransportFailure where no whole answer came, AnswerTooLong, or the error that opening the body threw.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  signal: AbortSignal,
  maxBytes = MAX_ANSWER,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let sent = false;
    let status = 0;
    let headers: Record<string, string | undefined> = {};
    const chunks: Buffer[] = [];
    let size = 0;
    let controller: Dispatcher.DispatchController | undefined;
    const bodyFailure: { error?: unknown } = {};

    const abort = () => {
      controller?.abort(new Error('aborted'));
      fail(new Error('aborted'));
    };
    const settle = () => signal.removeEventListener('abort', abort);
    const finish = () => {
      settle();
      resolve({ status, headers, body: Buffer.concat(chunks) });
    };
    const fail = (error: Error) => {
      settle();
      if (bodyFailure.error instanceof Error) {
        reject(bodyFailure.error);
      } else if (error instanceof AnswerTooLong) {
        reject(error);
      } else {
        reject(asFailure(error, sent));
      }
    };
    if (signal.aborted) {
      reject(new TransportFailure('aborted', undefined, false));
      return;
    }
    signal.addEventListener('abort', abort, { once: true });

    try {
      dispatcher.dispatch(
        {
          origin: request.url.origin,
          path: request.url.pathname + request.url.search,
          method: request.method,
          headers: request.headers,
          body: bodyOf(request.body, bodyFailure),
          ...NO_TIMEOUTS,
        },
        {
          onRequestStart(current) {
            controller = current;
            if (signal.aborted) {
              current.abort(new Error('aborted'));
            } else {
              sent = true;
            }
          },
          onResponseStart(_, code, fields) {
            status = code;
            headers = fields as Record<string, string | undefined>;
          },
          onResponseData(current, chunk) {
            const data = size === 0 ? withoutLeadingSpace(chunk) : chunk;
            // Even an empty slice of white space would keep the buffer that it was cut from.
            if (data.length === 0) {
              return;
            }
            size += data.length;
            const ok = status >= 200 && status < 300;
            if (size <= (ok ? maxBytes : MAX_ERROR)) {
              chunks.push(data);
            } else if (ok) {
              current.abort(new AnswerTooLong(`The answer is longer than ${maxBytes} bytes.`));
            } else {
              finish();
              current.abort(new Error('The rest of an error page is not worth reading.'));
            }
          },
          onResponseEnd() {
            finish();
          },
          onResponseError(_, error) {
            fail(error);
          },
        },
      );
    } catch (error) {
      fail(error as Error);
    }
  });
}

/**
 * The body for undici. An error of the file itself is kept aside, because it is not one of the network; the stream
 * is closed whatever ends the sending. It ends with the last byte announced, not with the end of its source, which may
 * come some turns of the event loop later: the answer may be there by then, and undici closes a connection whose
 * answer is complete before its request.
 */
function bodyOf(body: HttpRequest['body'], failure: { error?: unknown }): Dispatcher.DispatchOptions['body'] {
  if (body === undefined || Buffer.isBuffer(body)) {
    return body;
  }
  if (body.bytes === 0) {
    return Buffer.alloc(0);
  }
  const stream = async function* () {
    let left = body.bytes;
    try {
      for await (const chunk of body.open()) {
        left -= chunk.length;
        yield chunk;
        if (left <= 0) {
          break;
        }
      }
    } catch (error) {
      failure.error = error;
      throw error;
    }
    if (left !== 0) {
      failure.error = new Error('The file changed its size while it was being sent.');
      throw failure.error as Error;
    }
  };
  return stream() as unknown as Dispatcher.DispatchOptions['body'];
}

function withoutLeadingSpace(chunk: Buffer): Buffer {
  let start = 0;
  while (
    start < chunk.length &&
    (chunk[start] === 0x20 || (chunk[start]! >= 0x09 && chunk[start]! <= 0x0d))
  ) {
    start += 1;
  }
  return start === 0 ? chunk : chunk.subarray(start);
}

function asFailure(error: Error & { code?: unknown; cause?: unknown }, sent: boolean): TransportFailure {
  const inner = innermost(error);
  if (/proxy authentication required|\((?!5)\d+\) !== 200 when http tunneling/i.test(inner.message)) {
    return new TransportFailure(inner.message, PROXY_REFUSED, false);
  }
  const code = typeof inner.code === 'string' ? inner.code : undefined;
  return new TransportFailure(inner.message, code, sent);
}

/** Connecting to several addresses fails with all the errors in one. */
function innermost(error: Error & { code?: unknown; errors?: unknown }): Error & { code?: unknown } {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) {
    return error.errors[0];
  }
  return error;
}
