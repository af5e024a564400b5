import { Type } from '../schema';
import { Uuid } from './common';
import { FileInfoSchema, FileUploadInfoSchema } from './file-info';

/** S 4.2, in the naming of the schema. */
export const PrepareTestSetUploadRequestSchema = Type.object({
  fitted_train_set_id: Uuid,
  x_test_info: FileInfoSchema,
  force_reupload: Type.optional(Type.boolean()),
});

export const PrepareTestSetUploadResponseSchema = Type.object({
  test_set_upload_id: Uuid,
  x_test_info: FileUploadInfoSchema,
});
