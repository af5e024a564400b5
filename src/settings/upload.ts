import { COLLECTING, COLUMNS, NODE, TABLE, TRAIN_CLEANING } from './common';
import { choice, column, flag, freeText } from './kinds';

/** tabular-upload: a train set, or a test set for a model. */
export const UPLOAD = {
  ...NODE,
  set: choice(['train', 'test'], { default: 'train' }),
  ...TABLE,
  target: column({ message: 'target' }),
  ...COLUMNS,
  ...TRAIN_CLEANING,
  /** A name; empty: the card, name or id that the message holds. */
  model: freeText(),
  format: choice(['parquet', 'csv'], { default: 'parquet' }),
  description: freeText({ message: 'description' }),
  forceReupload: flag({ message: 'force_reupload' }),
  /** Offer the service an upload in chunks. */
  chunks: flag(),
  ...COLLECTING,
};
