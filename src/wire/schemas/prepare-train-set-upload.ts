import { Type } from '../schema';
import { Uuid } from './common';
import { FileInfoSchema, FileUploadInfoSchema } from './file-info';

/** S 4.1, in the naming of the schema. */
export const PrepareTrainSetUploadRequestSchema = Type.object({
  x_train_info: FileInfoSchema,
  y_train_info: FileInfoSchema,
  description: Type.optional(Type.text()),
  force_reupload: Type.optional(Type.boolean()),
});

export const PrepareTrainSetUploadResponseSchema = Type.object({
  train_set_upload_id: Uuid,
  x_train_info: FileUploadInfoSchema,
  y_train_info: FileUploadInfoSchema,
});
