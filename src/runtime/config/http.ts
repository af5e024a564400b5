import { ServiceError, toServiceError } from '../../wire/service-error';

/** What the routes of the editor read of a request: the part of Express's that they use. */
export interface EditorRequest {
  params: Record<string, string>;
  query?: Record<string, unknown>;
  headers?: Record<string, string | string[] | undefined>;
  /** Parsed by Node-RED where it is JSON. */
  body?: unknown;
}

export interface EditorResponse {
  json(body: unknown): void;
  status(code: number): EditorResponse;
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

/** The JSON of a request. Pages of other origins can send other forms without being asked. @throws ServiceError */
export function jsonBody({ headers, body }: EditorRequest): Record<string, unknown> {
  const isJson = String(headers?.['content-type'] ?? '').startsWith('application/json');
  if (!isJson || typeof body !== 'object' || body === null) {
    throw new ServiceError('validation.failed', 'The body of this request must be a JSON object.');
  }
  return body as Record<string, unknown>;
}
