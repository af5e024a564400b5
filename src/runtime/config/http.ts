import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { ModelFile } from '../../connection';
import { isObject } from '../../util/values';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Red } from '../node-red';

/** A request of the editor as Node-RED hands it on; `body` is what it has parsed as JSON, or else empty. */
export type EditorRequest = IncomingMessage & {
  params: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
};

type EditorResponse = ServerResponse & {
  json(body: unknown): void;
  status(code: number): EditorResponse;
};

/** The permissions of Node-RED's users that routes ask for. */
export type Permission = 'tabular-prediction.read' | 'tabular-prediction.write' | 'flows.write';

/** The types of a body that a page of another origin cannot send without being asked, unlike a form or plain text. */
const BODIES = {
  json: { type: /^application\/json\s*(;|$)/i, says: 'a JSON object, sent as application/json' },
  file: {
    type: /^application\/(octet-stream|zip)\s*(;|$)/i,
    says: 'a file, sent as application/octet-stream',
  },
};

/** What a user must be allowed to do: always the same, or by what is asked. `body` is not looked at yet. */
type Needs = Permission | ((id: string, body: unknown) => readonly Permission[]);

/**
 * @param id the one parameter of the path; empty where it has none
 * @param asked the query of `GET`, or where a file is sent; else the body
 */
type Answer = (id: string, asked: Record<string, unknown>, request: EditorRequest) => unknown;

/**
 * `GET` answers with JSON and changes nothing. `POST` takes JSON and answers with it. With `file`, a `GET` answers with a
 * model file, and a `POST` takes one, which is left for the answer to read.
 */
export type EditorRoute = readonly [
  method: 'GET' | 'POST',
  path: string,
  needs: Needs,
  answer: Answer,
  file?: 'file',
];

/**
 * Registers routes below `/tabular-prediction`, each behind a permission. All routes of this package are registered here,
 * so none can be without one, and none that does something answers a form of another page.
 */
export function registerRoutes(red: Red, routes: readonly EditorRoute[]): void {
  for (const [method, below, needs, answer, file] of routes) {
    const path = `/tabular-prediction${below}`;
    const permitted = permit(red, needs);
    if (method === 'GET') {
      const reply = file === undefined ? respond : sendFile;
      red.httpAdmin.get(path, permitted, (request: EditorRequest, response: EditorResponse) =>
        reply(response, () => answer(readId(request), request.query ?? {}, request)),
      );
    } else {
      red.httpAdmin.post(path, permitted, (request: EditorRequest, response: EditorResponse) =>
        respond(response, () => {
          const body = readBody(request, file ?? 'json');
          return answer(readId(request), file === undefined ? body : (request.query ?? {}), request);
        }),
      );
    }
  }
}

function permit(red: Red, needs: Needs) {
  return (request: EditorRequest, response: EditorResponse, next: () => void): void => {
    const all = typeof needs === 'string' ? [needs] : needs(readId(request), request.body);
    const passed = all.reduceRight(
      (then, permission) => () =>
        red.auth.needsPermission(permission)(request as never, response as never, then),
      next,
    );
    passed();
  };
}

function readId({ params }: EditorRequest): string {
  return Object.values(params)[0] ?? '';
}

/** @throws ServiceError `validation.failed` */
function readBody(
  { headers, body = {} }: EditorRequest,
  takes: keyof typeof BODIES,
): Record<string, unknown> {
  const { type, says } = BODIES[takes];
  if (!type.test(headers['content-type'] ?? '') || !isObject(body)) {
    throw new ServiceError('validation.failed', `The body of this request must be ${says}.`);
  }
  return body;
}

const STATUS: Partial<Record<ServiceError['code'], number>> = {
  'model.unknown': 404,
  not_found: 404,
  'validation.failed': 400,
  'file.unreadable': 400,
  'config.invalid': 400,
  'table.empty': 400,
  'table.invalid': 400,
  'columns.missing': 400,
  'rollback.impossible': 409,
  'limit.exceeded': 413,
};

/** Answers with JSON, or with {code, message} of an error. */
function respond(response: EditorResponse, answer: () => unknown): void {
  Promise.resolve()
    .then(answer)
    .then(
      (body) => response.json(body),
      (error: unknown) => {
        const { code, message } = toServiceError(error);
        response.status(STATUS[code] ?? 500).json({ code, message });
      },
    );
}

/** Answers with a file to save, or with {code, message} of an error. */
function sendFile(response: EditorResponse, answer: () => unknown): void {
  const send = async (): Promise<void> => {
    const { name, bytes, pieces } = (await answer()) as ModelFile;
    response.writeHead(200, {
      'content-type': 'application/zip',
      'content-length': bytes,
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    });
    await pipeline(Readable.from(pieces), response);
  };
  send().catch((error: unknown) => {
    if (response.headersSent) {
      response.destroy();
    } else {
      respond(response, () => {
        throw error;
      });
    }
  });
}
