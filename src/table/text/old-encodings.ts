import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';

/*
 * What spreadsheets save as "CSV": text in Windows-1252 (of which Latin-1 is nearly all) in Western Europe, in Shift-JIS
 * in Japan. Nothing in the file says so. Its bytes distinguish it from other text that is not UTF-8.
 */

/** Bytes that stand for nothing in Windows-1252; other encodings are full of them. */
const UNUSED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Whether bytes can be Windows-1252: none of those that stand for nothing, and accented letters mostly alone between
 * plain ones. Of Cyrillic, Greek, Chinese, Japanese and Korean text most bytes beyond ASCII have neighbours of their
 * kind.
 */
export function looksWestern(bytes: Uint8Array): boolean {
  let high = 0;
  let paired = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80) {
      continue;
    }
    if (UNUSED.has(byte)) {
      return false;
    }
    high++;
    paired += (bytes[at - 1] ?? 0) >= 0x80 || (bytes[at + 1] ?? 0) >= 0x80 ? 1 : 0;
  }
  return paired * 2 <= high;
}

/**
 * Whether bytes can be Shift-JIS, as spreadsheets of Japan save it: characters of two bytes, nearly all of them kana,
 * signs and the common kanji. Other encodings read as Shift-JIS have rare kanji, or half-width kana alone.
 */
function looksJapanese(bytes: Uint8Array): boolean {
  let wide = 0;
  let common = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x80 || (byte > 0xa0 && byte < 0xe0)) {
      continue;
    }
    const next = bytes[++at];
    if (next === undefined) {
      break;
    }
    if (byte === 0x80 || byte === 0xa0 || byte > 0xfc || next < 0x40 || next === 0x7f || next > 0xfc) {
      return false;
    }
    wide++;
    common += byte <= LAST_COMMON ? 1 : 0;
  }
  return wide > 0 && common >= COMMON_PART * wide;
}

/** The first byte of the last kanji of level 1. */
const LAST_COMMON = 0x98;
const COMMON_PART = 0.8;

/** What the first bytes beyond ASCII say: of a text that was ASCII up to them. */
type Told = Exclude<OldEncoding, undefined> | 'utf-8' | 'neither' | 'too few';

/** An encoding of before Unicode that a text was read in. */
export type OldEncoding = 'windows-1252' | 'shift_jis' | undefined;

/** @param bytes from the first byte beyond ASCII on */
export function encodingOf(bytes: Uint8Array, last: boolean): Told {
  const lead = bytes[0]!;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (bytes.length < length) {
    // At the end of the text: cut off, or an accented letter. Nobody can tell.
    return last ? 'neither' : 'too few';
  }
  if (isUtf8(bytes.subarray(0, length))) {
    return 'utf-8';
  }
  return looksWestern(bytes) ? 'windows-1252' : looksJapanese(bytes) ? 'shift_jis' : 'neither';
}

/** Position of the first byte beyond ASCII, or -1. */
export function firstBeyondAscii(bytes: Uint8Array): number {
  return isAscii(bytes) ? -1 : bytes.findIndex((byte) => byte >= 0x80);
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
