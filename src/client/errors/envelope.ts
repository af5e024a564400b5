import { isDeeper, isObject, tryParseJson } from '../../util/json';

/** Most levels of objects and arrays in a body of the service. */
export const MAX_DEPTH = 64;

/** The content of an error body, whichever envelope the service used (S 7). */
export interface ErrorEnvelope {
  message: string;
  serviceCode?: string;
  traceId?: string;
  retryable?: boolean;
  support?: string;
  /** The status that the body names, if it came with another one (an error at 200). */
  status?: number;
  /** Ids of an upload that exists already (status 409). */
  uploadIds?: { train_set_upload_id?: string; test_set_upload_id?: string };
  /** Whether the body is the service's own, and not that of a gateway or proxy. */
  own: boolean;
}

type Body = Record<string, unknown>;

/** Reads an error body. Anything but a JSON object of the service becomes a short message that says what it is. */
export function readEnvelope(body: Buffer): ErrorEnvelope {
  const text = body.toString('utf8').trim();
  if (text === '') {
    return { message: 'no explanation', own: false };
  }
  const value = tryParseJson(text);
  if (isObject(value) && !isDeeper(value, MAX_DEPTH)) {
    return envelopeOf(value);
  }
  return (
    storageError(text) ?? { message: text.startsWith('<') ? 'an HTML page' : text.slice(0, 200), own: false }
  );
}

/** The error of a storage behind a signed URL: `<Error><Code>…</Code><Message>…</Message></Error>`. */
function storageError(text: string): ErrorEnvelope | undefined {
  if (!/^(?:\uFEFF)?(?:<\?xml[^>]*>\s*)?<Error\b/.test(text)) {
    return undefined;
  }
  const serviceCode = elementOf(text, 'Code');
  const message = elementOf(text, 'Message');
  const said = [serviceCode, message].filter((part) => part !== undefined).join(': ');
  return {
    message: said === '' ? 'an error without a code' : said,
    own: false,
    ...given('serviceCode', serviceCode),
  };
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element of a name, without the white space around it. */
function elementOf(xml: string, name: 'Code' | 'Message'): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  return start < 0 || end < 0
    ? undefined
    : textOf(
        xml
          .slice(start + name.length + 2, end)
          .replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!),
      );
}

export function envelopeOf(body: Body): ErrorEnvelope {
  const serviceCode = textOf(body.code) ?? textOf(body.error_code);
  const own =
    serviceCode !== undefined ||
    typeof body.message === 'string' ||
    (body.detail !== undefined && body.detail !== 'Not Found');
  return {
    message: messageOf(body) ?? serviceCode ?? 'no explanation',
    own,
    ...(serviceCode !== undefined && { serviceCode }),
    ...given('traceId', textOf(body.trace_id)),
    ...(typeof body.retryable === 'boolean' && { retryable: body.retryable }),
    ...given('support', textOf(body.support)),
    ...given('status', statusOf(body)),
    ...given('uploadIds', uploadIdsOf(body)),
  };
}

/** An error that came with status 200: marked as streamed, or a body that holds nothing but an explanation. */
export function isErrorBody(body: Body): boolean {
  if (body._streamed_error === true) {
    return true;
  }
  const names = Object.keys(body);
  const explaining = [
    'detail',
    'message',
    'code',
    'error_code',
    'retryable',
    'support',
    'trace_id',
    'status',
  ];
  return (
    names.some((name) => name === 'detail' || name === 'message') &&
    names.every((name) => explaining.includes(name))
  );
}

/** `detail` may be text, or a list of places and reasons ({loc, msg}), as validators of the service's kind answer. */
function messageOf(body: Body): string | undefined {
  const { detail, message } = body;
  if (Array.isArray(detail)) {
    const parts = detail.slice(0, 5).map((item) => (isObject(item) ? placeAndReason(item) : textOf(item)));
    return parts.filter((part) => part !== undefined).join('; ') || textOf(message);
  }
  if (isObject(detail)) {
    return messageOf(detail) ?? textOf(message);
  }
  const first = textOf(message);
  const second = textOf(detail);
  return first !== undefined && second !== undefined && first !== second
    ? `${first}: ${second}`
    : (first ?? second ?? textOf(body.error));
}

function placeAndReason(item: Body): string | undefined {
  const reason = textOf(item.msg) ?? textOf(item.message);
  if (!Array.isArray(item.loc) || reason === undefined) {
    return reason;
  }
  const place = item.loc.filter((step) => step !== 'body').map((step) => String(step));
  return place.length === 0 ? reason : `${place.join('.')}: ${reason}`;
}

function statusOf(body: Body): number | undefined {
  const status = [body.status_code, body.status, body.http_status].find((value) => typeof value === 'number');
  return status !== undefined && status >= 400 && status <= 599 ? status : undefined;
}

function uploadIdsOf(body: Body): ErrorEnvelope['uploadIds'] {
  const ids = {
    ...given('train_set_upload_id', uuidOf(body.train_set_upload_id)),
    ...given('test_set_upload_id', uuidOf(body.test_set_upload_id)),
  };
  return Object.keys(ids).length > 0 ? ids : undefined;
}

function uuidOf(value: unknown): string | undefined {
  const id = textOf(value);
  return id !== undefined && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) ? id : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function given<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>);
}
