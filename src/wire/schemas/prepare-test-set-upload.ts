import { Type } from '@sinclair/typebox';

import { Uuid } from './common';
import { FileInfoSchema, FileUploadInfoSchema } from './file-info';

/** S 4.2, in the naming of the schema. */
export const PrepareTestSetUploadRequestSchema = Type.Object({
  fitted_train_set_id: Uuid,
  x_test_info: FileInfoSchema,
  force_reupload: Type.Optional(Type.Boolean()),
});

export const PrepareTestSetUploadResponseSchema = Type.Object({
  test_set_upload_id: Uuid,
  x_test_info: FileUploadInfoSchema,
});
