import { Type } from '@sinclair/typebox';
import { Nullable, Uuid, strict } from './common';

/** Envelope 1 (S 7). */
export const DetailErrorSchema = Type.Object({
  code: Type.String(),
  detail: Type.String(),
  retryable: Type.Optional(Type.Boolean()),
  support: Type.Optional(Type.String()),
});

/** Envelope 2 (S 7). */
export const MessageErrorSchema = Type.Object({
  message: Type.String(),
  error_code: Type.Optional(Type.String()),
  trace_id: Type.Optional(Nullable(Type.String(), 'text or null')),
});

const duplicate = {
  message: Type.String(),
  error_code: Type.Optional(Type.String()),
  trace_id: Type.Optional(Nullable(Uuid, 'a UUID or null')),
  detail: Type.Optional(Nullable(Type.String(), 'text or null')),
};

/** Status 409 of the train set upload (S 7). */
export const DuplicateTrainSetSchema = Type.Object({ ...duplicate, train_set_upload_id: Uuid }, strict);

/** Status 409 of the test set upload: the same body with the id of the test set. */
export const DuplicateTestSetSchema = Type.Object({ ...duplicate, test_set_upload_id: Uuid }, strict);
