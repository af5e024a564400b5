/** The parts of Apache Arrow's classes that are read here. Any version of the library gives them. */
export interface ArrowType {
  typeId: number;
  bitWidth?: number;
  byteWidth?: number;
  precision?: number;
  scale?: number;
  unit?: number;
}

export interface ArrowData {
  type: ArrowType;
  offset: number;
  length: number;
  nullCount: number;
  nullBitmap?: Uint8Array;
  values: ArrayLike<number> | BigInt64Array | BigUint64Array | Uint8Array;
  valueOffsets: Int32Array | BigInt64Array;
  dictionary?: ArrowVector;
  /** Of all buffers, those of its children too. */
  byteLength?: number;
}

export interface ArrowVector {
  type: ArrowType;
  length: number;
  data: readonly ArrowData[];
  get(index: number): unknown;
}

/** Numbers of Arrow's type enumeration (Schema.fbs). */
export const TYPE = {
  dictionary: -1,
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  fixedSizeBinary: 15,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  binaryView: 23,
  utf8View: 24,
};
