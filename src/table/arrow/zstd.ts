import { zstdModule } from '../packages/heavy-modules';

const MAGIC = 0xfd2fb528;
const FLAG = { isSingle: 0x20, dictionary: 0x03 };
/** What a frame may refer back to has to be held: so much at most, or all of it. */
const MAX_WINDOW = 128 * 1024 * 1024;

/**
 * Decodes a Zstandard frame (RFC 8878).
 * @param length bytes that it holds
 * @throws Error for bytes that are none, or hold more or fewer
 */
export function decodeZstd(frame: Uint8Array, length: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (
    frame.length < 6 ||
    view.getUint32(0, true) !== MAGIC ||
    windowOf(view) > Math.max(length, MAX_WINDOW)
  ) {
    throw new Error('its Zstandard frame does not begin as one that can be read');
  }
  const out = new Uint8Array(length);
  let written = 0;
  const { Decompress } = zstdModule();
  new Decompress((part) => {
    // More than there is room for throws a RangeError.
    out.set(part, written);
    written += part.length;
  }).push(frame, true);
  if (written !== length) {
    throw new Error(`its Zstandard frame holds ${written} bytes instead of ${length}`);
  }
  return out;
}

/** The window that a frame asks for: all that it holds, where it is of a single segment. */
function windowOf(view: DataView): number {
  const flags = view.getUint8(4);
  if ((flags & FLAG.isSingle) === 0) {
    const window = view.getUint8(5);
    return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  const at = 5 + [0, 1, 2, 4][flags & FLAG.dictionary]!;
  switch (flags >> 6) {
    case 0:
      return view.getUint8(at);
    case 1:
      return view.getUint16(at, true) + 256;
    case 2:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}
