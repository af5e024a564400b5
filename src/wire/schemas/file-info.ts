import { Type } from '../schema';
import { strict } from './common';

const size = Type.optional(Type.integer({ minimum: 0, description: 'a whole number of bytes' }));
const hash = Type.optional(Type.text());

/** FileInfo in the naming of the schema (S 2.1), which refuses unknown properties. */
export const FileInfoSchema = Type.object(
  {
    format: Type.oneOf(['csv', 'parquet']),
    hash,
    size_bytes: size,
    use_chunks: Type.optional(Type.boolean()),
  },
  strict,
);

/** FileInfo in the naming of the sample requests (S 2.1); the format is the file name's extension. */
export const SampleFileInfoSchema = Type.object(
  {
    filename: Type.text({
      pattern: /\.(?:csv|parquet)$/i,
      description: 'a file name that ends in .csv or .parquet',
    }),
    content_hash: hash,
    size_bytes: size,
    use_chunks: Type.optional(Type.boolean()),
  },
  strict,
);

/** FileUploadInfo (S 2.2). */
export const FileUploadInfoSchema = Type.object({
  signed_urls: Type.array(Type.text({ minLength: 1 }), { minItems: 1 }),
  expires_at: Type.number(),
  required_headers: Type.record(Type.text()),
});
