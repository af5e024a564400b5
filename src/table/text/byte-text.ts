import { TextDecoder } from 'node:util';

import { notUtf8In } from './utf8-error';

/** The part of a string's interface that scanners of long text need. Positions are in its own units. */
export type LongText = Pick<string, 'length' | 'charCodeAt' | 'indexOf' | 'slice'>;

/**
 * UTF-8 bytes as text whose units are bytes. JSON's syntax characters are single bytes in UTF-8, so scanners can work
 * on the bytes directly. The whole text is never decoded into one string: that would block the event loop.
 */
export class Utf8Text implements LongText {
  readonly length: number;
  private readonly bytes: Buffer;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const own = marked ? bytes.subarray(3) : bytes;
    this.bytes = Buffer.from(own.buffer, own.byteOffset, own.byteLength);
    this.length = own.length;
  }

  charCodeAt(at: number): number {
    return this.bytes[at] ?? NaN;
  }

  indexOf(sign: string, from = 0): number {
    return this.bytes.indexOf(sign, from, 'latin1');
  }

  slice(from = 0, to = this.length): string {
    try {
      return this.decoder.decode(this.bytes.subarray(from, to));
    } catch {
      throw notUtf8In(this.bytes, from, to);
    }
  }
}
