import type { IncomingMessage, ServerResponse } from 'node:http';

import { isObject } from '../../util/values';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Red } from '../node-red';

/** A request of the editor as Node-RED hands it on; `body` is what it has parsed as JSON, or else empty. */
export type EditorRequest = IncomingMessage & {
  params: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
};

export type EditorResponse = ServerResponse & {
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

interface Acting {
  /** What the user must be allowed to do. Default: `tabular-prediction.write`. */
  needs?: (request: EditorRequest) => readonly Permission[];
  /** Default: `json`, which the body then is. A file is left for the route to read. */
  takes?: keyof typeof BODIES;
}

/**
 * The routes that the editor asks, each behind a permission. All routes of this package are registered here, so none can
 * be without one, and none that does something answers a form of another page.
 */
export class EditorRoutes {
  constructor(private readonly red: Red) {}

  /** `GET path` for users who may read: it answers with JSON, or as `reply` does, and changes nothing. */
  tell<Answer>(
    path: string,
    answer: (request: EditorRequest) => Answer,
    reply: (response: EditorResponse, answer: () => Answer) => void = respond,
  ): void {
    this.red.httpAdmin.get(
      path,
      this.permitted(() => ['tabular-prediction.read']),
      (request: EditorRequest, response: EditorResponse) => reply(response, () => answer(request)),
    );
  }

  /** `POST path` for users who may do what it does. */
  act(
    path: string,
    answer: (request: EditorRequest, body: Record<string, unknown>) => unknown,
    { needs = () => ['tabular-prediction.write'], takes = 'json' }: Acting = {},
  ): void {
    this.red.httpAdmin.post(path, this.permitted(needs), (request: EditorRequest, response: EditorResponse) =>
      respond(response, () => {
        const { type, says } = BODIES[takes];
        const { headers, body = {} } = request;
        if (!type.test(headers['content-type'] ?? '') || !isObject(body)) {
          throw new ServiceError('validation.failed', `The body of this request must be ${says}.`);
        }
        return answer(request, body);
      }),
    );
  }

  private permitted(needs: (request: EditorRequest) => readonly Permission[]) {
    return (request: EditorRequest, response: EditorResponse, next: () => void): void => {
      const passed = needs(request).reduceRight(
        (then, permission) => () =>
          this.red.auth.needsPermission(permission)(request as never, response as never, then),
        next,
      );
      passed();
    };
  }
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
export function respond(response: EditorResponse, answer: () => unknown): void {
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
