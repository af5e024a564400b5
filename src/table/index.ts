export { asBytes } from '../util/values';
export { isArrowTable } from './arrow/source';
export { isAbsent, isMissingWord } from './cells/classify';
export { DateReader, knownZone, localZone, TimeZone, whyNotDate } from './cells/parse-date';
export { parseNumber, parseWithAnyDecimal } from './cells/parse-number';
export { show } from './cells/types';
export {
  type CellReading,
  type Column,
  COLUMN_TYPES,
  type ColumnType,
  type FileFormat,
  GIVEN_TYPES,
  type GivenType,
  type Label,
  type Row,
  setCell,
} from './cells/types';
export { dateOfSerial, isLikelySerial, timeOfDigits } from './cells/written-date';
export { writtenNumber } from './cells/written-number';
export {
  addCounts,
  batchBytes,
  type Cell,
  cellAt,
  type ColumnBatch,
  type ColumnData,
  countRows,
  isMissing,
  joinBatches,
  labelAt,
  listCells,
  MISSING_BOOLEAN,
  mixRows,
  numberAt,
  pickRows,
  sliceBatch,
} from './columns/column-batch';
export {
  assertWidth,
  datesAmong,
  datesInHeader,
  isSparse,
  isTooWide,
  MAX_COLUMNS,
  maybeEndless,
  ownNames,
  plainNames,
} from './columns/header';
export { areFew, batchOfRows, type ReadOptions } from './columns/read-batches';
export { MissingWords, type TableForm } from './columns/slices';
export type {
  CategorySample,
  ColumnSample,
  NumberSample,
  SampleChoice,
  TableSample,
} from './columns/table-sample';
export {
  encodeBatches,
  encodeJsonRows,
  type EncodeOptions,
  encodeTrainColumns,
  type JsonRows,
  type TrainSetFiles,
  type TrainSetFilesOptions,
} from './encoder/encode';
export { readTableFile, type TableContent } from './encoder/files';
export { closeEncoder, warmEncoder } from './encoder/host';
export { ROW_SEPARATOR } from './encoder/protocol';
export type { ProfileOptions, TableProfile, TargetProfile } from './inference/profile';
export { fileAsIs, fitsAsIs, type OpenOptions, openTable, openTableFile, type TableSource } from './open';
export { TableSpool } from './spool';
export { crc32c, crc32cToBase64 } from './storage/crc32c';
export { sha256, type TableFile } from './storage/table-file';
export { namesAtHand, OwnCopy } from './values/before-reading';
export { type AddedColumn, type AddedColumns, isOfSpreadsheet } from './values/tables';
