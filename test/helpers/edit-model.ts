import { crc32 } from 'node:zlib';

const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array };

/** What is stored of a model; the test knows what is in it. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever a test changes
export type StoredModel = any;

/** The bytes of a model with something changed in what they hold, and with the right checksum. */
export function editModel(bytes: Uint8Array, change: (stored: StoredModel) => void): Buffer {
  const { text, arrays } = partsOf(Buffer.from(bytes));
  const stored: unknown = JSON.parse(text, (_key, value: unknown) => {
    const { $array, at, length } = (value ?? {}) as {
      $array?: keyof typeof ARRAYS;
      at: number;
      length: number;
    };
    return $array === undefined ? value : new ARRAYS[$array](arrays.buffer, at, length);
  });
  change(stored);
  const written: Buffer[] = [];
  let size = 0;
  const changed = JSON.stringify(stored, (_key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { $number: String(value) };
    }
    if (!ArrayBuffer.isView(value)) {
      return value;
    }
    const array = value as Float64Array;
    const padded = Buffer.alloc(Math.ceil(array.byteLength / 8) * 8);
    padded.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    written.push(padded);
    size += padded.length;
    return { $array: array.constructor.name, at: size - padded.length, length: array.length };
  });
  return sealed(bytes, changed, Buffer.concat(written));
}

/** The same with the text itself changed. */
export function editModelText(bytes: Uint8Array, change: (text: string) => string): Buffer {
  const { text, arrays } = partsOf(Buffer.from(bytes));
  return sealed(bytes, change(text), arrays);
}

/** Makes the length and the checksum of changed bytes right, in place. */
export function sealModel(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(bytes.length - 16, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(16)), 8);
  return bytes;
}

function partsOf(bytes: Buffer): { text: string; arrays: Uint8Array<ArrayBuffer> } {
  const length = bytes.readUInt32LE(16);
  const arrays = new Uint8Array(bytes.subarray(24 + Math.ceil(length / 8) * 8));
  return { text: bytes.toString('utf8', 24, 24 + length), arrays };
}

function sealed(before: Uint8Array, text: string, arrays: Uint8Array): Buffer {
  const json = Buffer.from(text);
  const start = 24 + Math.ceil(json.length / 8) * 8;
  const out = Buffer.alloc(start + arrays.length);
  out.set(before.subarray(0, 4));
  out.writeUInt32LE(json.length, 16);
  json.copy(out, 24);
  out.set(arrays, start);
  return sealModel(out);
}
