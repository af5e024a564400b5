import type { TSchema } from '@sinclair/typebox';

import { isObject } from '../util/json';
import { check } from './check';
import { knownPart } from './known-part';
import { schemas } from './load-schemas';
import { type Body, notAnObject, parseBody, type Parsed } from './parse-body';
import type { PrepareTestSetUploadRequest, PrepareTrainSetUploadRequest } from './types';

/*
 * File info has two namings (S 2.1): `format` and `hash`, or `filename` and `content_hash`. Either is taken, but never
 * both in one body; an unknown property is refused.
 */

/** S 4.1 */
export function parsePrepareTrainSetUpload(body: unknown): Parsed<PrepareTrainSetUploadRequest> {
  return parseUpload(body, ['x_train_info', 'y_train_info'], schemas().PrepareTrainSetUploadRequestSchema);
}

/** S 4.2 */
export function parsePrepareTestSetUpload(body: unknown): Parsed<PrepareTestSetUploadRequest> {
  return parseUpload(body, ['x_test_info'], schemas().PrepareTestSetUploadRequestSchema);
}

const SAMPLE_NAMES = ['filename', 'content_hash'];
const SCHEMA_NAMES = ['format', 'hash'];

function parseUpload<T>(body: unknown, files: string[], schema: TSchema): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const infos = files.flatMap((name) => (isObject(body[name]) ? [{ name, info: body[name] }] : []));
  const sample = found(infos, SAMPLE_NAMES);
  if (sample === undefined) {
    return parseBody(schema, body);
  }
  const other = found(infos, SCHEMA_NAMES);
  if (other !== undefined) {
    return {
      ok: false,
      path: sample,
      message: `cannot be sent with ${other}: they belong to different namings`,
    };
  }
  const plain: Body = { ...body };
  for (const { name, info } of infos) {
    const { value } = knownPart(schemas().SampleFileInfoSchema, info);
    const fault = check(schemas().SampleFileInfoSchema, value);
    if (fault !== undefined) {
      return { ok: false, ...fault, path: fault.path === 'body' ? name : `${name}.${fault.path}` };
    }
    plain[name] = fromSample(value);
  }
  return parseBody(schema, plain);
}

function found(infos: { name: string; info: Body }[], names: string[]): string | undefined {
  const given = infos.flatMap(({ name, info }) =>
    names.filter((one) => (info[one] ?? undefined) !== undefined).map((one) => `${name}.${one}`),
  );
  return given[0];
}

function fromSample(info: Body): Body {
  const { filename, content_hash: hash, ...rest } = info;
  const format = String(filename).toLowerCase().endsWith('.csv') ? 'csv' : 'parquet';
  return { format, ...(hash !== undefined && { hash }), ...rest };
}
