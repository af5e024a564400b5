import { TextDecoder } from 'node:util';

/** The first character that is not a space. A table may be long, so it is not trimmed first. */
export function firstCharacter(text: string): string {
  return /[^\s\uFEFF]/.exec(text)?.[0] ?? '';
}

export type Content = 'parquet' | 'arrow' | 'json' | 'csv' | 'gzip' | 'binary';

const HEAD = 4096;

/** The kind of a file by its first bytes. */
export function contentOf(head: Uint8Array): Content {
  const magic = Buffer.from(head.subarray(0, 8)).toString('latin1');
  if (magic.startsWith('PAR1')) {
    return 'parquet';
  }
  if (magic.startsWith('ARROW1') || (magic.startsWith('\xff\xff\xff\xff') && head.length >= 8)) {
    return 'arrow';
  }
  if (magic.startsWith('\x1f\x8b')) {
    return 'gzip';
  }
  const wide = wideEncoding(head);
  const bytes = head.subarray(0, HEAD);
  if (wide === undefined && bytes.includes(0) && !isTornLog(bytes)) {
    return 'binary';
  }
  const text = new TextDecoder(wide ?? 'utf-8').decode(bytes);
  const start = firstCharacter(text);
  return start === '{' || start === '[' ? 'json' : 'csv';
}

/** Whether bytes are lines of text with NUL bytes in between, which a computer without power leaves in a log. */
function isTornLog(bytes: Uint8Array): boolean {
  const lineEnd = bytes.indexOf(10);
  return (
    lineEnd > 0 &&
    lineEnd < bytes.indexOf(0) &&
    !bytes.some((byte) => byte > 0 && byte < 32 && !WHITE.has(byte))
  );
}

/** Tab, line feed, carriage return. */
const WHITE = new Set([9, 10, 13]);

/** UTF-16 in either byte order, where a byte order mark says so. */
export function wideEncoding(start: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) {
    return 'utf-16le';
  }
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : undefined;
}
