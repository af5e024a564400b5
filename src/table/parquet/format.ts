/**
 * The numbers of Parquet's format, by the names that they have in parquet.thrift (apache/parquet-format): fields of
 * its Thrift structs first, then the values of its enumerations. Only what is written or read by ourselves.
 */
export const FILE_METADATA = {
  version: 1,
  schema: 2,
  numRows: 3,
  rowGroups: 4,
  keyValues: 5,
  createdBy: 6,
  columnOrders: 7,
};

export const SCHEMA_ELEMENT = {
  type: 1,
  repetitionType: 3,
  name: 4,
  numChildren: 5,
  convertedType: 6,
  logicalType: 10,
};

/** Unions: the field that is there says which one it is. */
export const LOGICAL_TYPE = { string: 1, timestamp: 8 };
export const TIMESTAMP_TYPE = { isAdjustedToUtc: 1, unit: 2 };
export const TIME_UNIT = { millis: 1 };

export const ROW_GROUP = { columns: 1, totalByteSize: 2, numRows: 3 };

export const COLUMN_CHUNK = { fileOffset: 2, metaData: 3 };

export const COLUMN_METADATA = {
  type: 1,
  encodings: 2,
  pathInSchema: 3,
  codec: 4,
  numValues: 5,
  totalUncompressedSize: 6,
  totalCompressedSize: 7,
  dataPageOffset: 9,
  dictionaryPageOffset: 11,
  statistics: 12,
};

export const STATISTICS = { nullCount: 3, maxValue: 5, minValue: 6 };

/** A union: bounds are by the order of the column's type. */
export const COLUMN_ORDER = { typeOrder: 1 };

export const PAGE_HEADER = {
  type: 1,
  uncompressedPageSize: 2,
  compressedPageSize: 3,
  dataPageHeader: 5,
  dictionaryPageHeader: 7,
};

export const DATA_PAGE_HEADER = {
  numValues: 1,
  encoding: 2,
  definitionLevelEncoding: 3,
  repetitionLevelEncoding: 4,
};

export const DICTIONARY_PAGE_HEADER = { numValues: 1, encoding: 2 };

export const PAGE_TYPE = { dataPage: 0, dictionaryPage: 2 };
export const KEY_VALUE = { key: 1, value: 2 };

export const PHYSICAL_TYPE = { boolean: 0, int64: 2, int96: 3, double: 5, byteArray: 6 };
export const CONVERTED_TYPE = { utf8: 0, timestampMillis: 9 };
export const REPETITION = { optional: 1 };
/** `plainDictionary` is the name of format 1 for numbers into a dictionary: every reader knows it. */
export const ENCODING = { plain: 0, rle: 3, plainDictionary: 2 };
export const CODEC = { uncompressed: 0, gzip: 2 };
