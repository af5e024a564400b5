/** Sections of a WebAssembly binary that matter here, and the flag of a memory that has an upper bound. */
const MEMORY_SECTION = 5;
const HAS_MAXIMUM = 1;
const HEADER_BYTES = 8;
const WASM_PAGE = 64 * 1024;

/**
 * Loads a module that brings its own WebAssembly, and limits its memory to `maxBytes`. Beyond that its code traps
 * instead of exhausting the process: no decoder can say in advance what a file will need.
 *
 * @param load must make its `WebAssembly.Module` at once, in this thread
 */
export function loadBounded<T>(maxBytes: number, load: () => T): T {
  const { Module } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(bytes: BufferSource) {
      super(withMaximum(asBytes(bytes), Math.floor(maxBytes / WASM_PAGE)));
    }
  };
  try {
    return load();
  } finally {
    WebAssembly.Module = Module;
  }
}

function asBytes(source: BufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** The binary with an upper bound of its memory, in pages of 64 KiB, where it has none of its own. */
function withMaximum(binary: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER_BYTES; at < binary.length;) {
    const size = readVarint(binary, at + 1);
    const end = size.next + size.value;
    if (binary[at] === MEMORY_SECTION) {
      const count = readVarint(binary, size.next);
      const flags = binary[count.next]!;
      const minimum = readVarint(binary, count.next + 1);
      if (count.value !== 1 || flags !== 0) {
        break;
      }
      const body = [1, HAS_MAXIMUM, ...varint(minimum.value), ...varint(Math.max(minimum.value, pages))];
      const section = [MEMORY_SECTION, ...varint(body.length), ...body];
      return new Uint8Array(
        Buffer.concat([binary.subarray(0, at), Buffer.from(section), binary.subarray(end)]),
      );
    }
    at = end;
  }
  return new Uint8Array(binary);
}

function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let i = at, scale = 1; ; i++, scale *= 128) {
    value += (bytes[i]! & 127) * scale;
    if (bytes[i]! < 128) {
      return { value, next: i + 1 };
    }
  }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}
