import { Type } from '@sinclair/typebox';

import { OneOf, strict } from './common';

const size = Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of bytes' }));
const hash = Type.Optional(Type.String());

/** FileInfo in the naming of the schema (S 2.1), which refuses unknown properties. */
export const FileInfoSchema = Type.Object(
  {
    format: OneOf(['csv', 'parquet']),
    hash,
    size_bytes: size,
    use_chunks: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** FileInfo in the naming of the sample requests (S 2.1); the format is the file name's extension. */
export const SampleFileInfoSchema = Type.Object(
  {
    filename: Type.String({
      pattern: '\\.(?:[cC][sS][vV]|[pP][aA][rR][qQ][uU][eE][tT])$',
      description: 'a file name that ends in .csv or .parquet',
    }),
    content_hash: hash,
    size_bytes: size,
    use_chunks: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** FileUploadInfo (S 2.2). */
export const FileUploadInfoSchema = Type.Object({
  signed_urls: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
  expires_at: Type.Number(),
  required_headers: Type.Record(Type.String(), Type.String()),
});
