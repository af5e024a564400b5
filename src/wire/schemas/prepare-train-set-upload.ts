import { Type } from '@sinclair/typebox';

import { Uuid } from './common';
import { FileInfoSchema, FileUploadInfoSchema } from './file-info';

/** S 4.1, in the naming of the schema. */
export const PrepareTrainSetUploadRequestSchema = Type.Object({
  x_train_info: FileInfoSchema,
  y_train_info: FileInfoSchema,
  description: Type.Optional(Type.String()),
  force_reupload: Type.Optional(Type.Boolean()),
});

export const PrepareTrainSetUploadResponseSchema = Type.Object({
  train_set_upload_id: Uuid,
  x_train_info: FileUploadInfoSchema,
  y_train_info: FileUploadInfoSchema,
});
