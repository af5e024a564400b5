/** A shorter run of base64 may be part of any word. */
const MIN_BASE64 = 8;

/**
 * Finds a secret in a text, in any case of letters, plain or in an encoding that keeps its characters apart (percent,
 * JSON and HTML escapes), or as hex or base64 of any text that it is part of.
 */
export function secretPattern(secret: string): RegExp {
  const bytes = Buffer.from(secret);
  const escaped = Array.from(secret, anyEncodingOf).join('');
  const base64 = base64Cores(bytes).map((core) => `[\\w+/=-]*${core}[\\w+/=-]*`);
  return new RegExp([escaped, bytes.toString('hex'), ...base64].join('|'), 'gi');
}

function anyEncodingOf(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  const percent = encodeURIComponent(character).startsWith('%')
    ? encodeURIComponent(character)
    : `%${hex.padStart(2, '0')}`;
  const plain = character.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return `(?:${plain}|${percent}|\\\\u${hex.padStart(4, '0')}|&#0*${code};|&#x0*${hex};)`;
}

/**
 * What base64 makes of the bytes whatever stands before and after them: three alignments, less the characters at the
 * ends that a neighbour shares.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2]
    .map((before) => {
      const text = Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .replace(/=+$/, '');
      const end = Math.floor(((before + bytes.length) * 4) / 3);
      return text.slice(Math.ceil((before * 4) / 3), end);
    })
    .filter((core) => core.length >= MIN_BASE64)
    .map((core) => core.replace(/[+-]/g, '[+-]').replace(/[/_]/g, '[/_]'));
}
