/** A shorter text is part of too many words to be hidden. */
const MIN_SECRET = 4;

/**
 * Keeps secrets out of texts: the access token in any plain encoding, signed URLs (whole, and their parts), anything that looks like a
 * bearer or a JWT, and the path and query of any other URL, which may be signed too.
 */
export class Secrets {
  /** Signed URLs of uploads under way. Taken apart only when there is a text to clean: most never are. */
  private readonly urls = new Set<string>();

  private readonly hideToken: ((text: string) => string) | undefined;

  constructor(token: string) {
    this.hideToken = token.length >= MIN_SECRET ? makeHider(token) : undefined;
  }

  /** Signed URLs of an upload; kept until `forgetUrls`. */
  addUrls(texts: readonly string[]): void {
    for (const text of texts) {
      this.urls.add(text);
    }
  }

  forgetUrls(texts: readonly string[]): void {
    for (const text of texts) {
      this.urls.delete(text);
    }
  }

  /** The text without secrets, at most `longest` characters of it. */
  clean(text: string, longest = 600): string {
    let out = text.length > 20_000 ? text.slice(0, 20_000) : text;
    out = this.hideToken?.(out) ?? out;
    const known = new Set([...this.urls].flatMap(splitSecret));
    for (const secret of [...known].sort((a, b) => b.length - a.length)) {
      if (secret.length >= MIN_SECRET) {
        out = out.replaceAll(secret, '[hidden]');
      }
    }
    out = out
      .replace(/\b(bearer)\s+[^\s"',;]+/gi, '$1 [hidden]')
      .replace(/\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g, '[hidden]')
      .replace(/\b(https?:\/\/)(?:[^\s/@"'<>]*@)?([^\s/?#"'<>)]+)[^\s"'<>)]*/gi, '$1$2');
    return out.length > longest ? `${out.slice(0, longest)}…` : out;
  }
}

function splitSecret(text: string): string[] {
  if (!URL.canParse(text)) {
    return [text];
  }
  const url = new URL(text);
  const values = [...url.searchParams.values()].filter((value) => value.length >= 16);
  const search = url.search.slice(1);
  const path = url.pathname.length >= 16 ? [url.pathname] : [];
  return [text, url.href, ...path, ...(search === '' ? [] : [search]), ...values];
}

const HIDDEN = '[hidden]';

/** A shorter run of base64 may be part of any word. */
const MIN_BASE64 = 8;

/** Of a longer secret the beginning is looked for, and what follows it is taken along: a pattern has its bounds. */
const LOOKED_FOR = 256;

/**
 * Hides a secret in texts: in any case of letters, plain or in an encoding that keeps its characters apart (percent,
 * JSON and HTML escapes), or as hex or base64 of any text that it is part of. In time linear in the text.
 */
function makeHider(secret: string): (text: string) => string {
  const isLong = secret.length > LOOKED_FOR;
  // Of half a character nothing can be made.
  const head = Buffer.from(Array.from(secret).slice(0, LOOKED_FOR).join('')).toString();
  const bytes = Buffer.from(head);
  const cores = base64Cores(bytes);
  const short = cores.length > 0 ? [] : wholeBase64(head);
  const any = [Array.from(head, matchAnyEncoding).join(''), bytes.toString('hex'), ...short].join('|');
  const plain = new RegExp(isLong ? `(?:${any})[^\\s"'<>]*` : any, 'gi');
  const core = cores.length > 0 ? new RegExp(cores.join('|'), 'gi') : undefined;
  return (text) => withoutRuns(text.replace(plain, HIDDEN), core);
}

/** The text without the runs of base64 that hold a match. */
function withoutRuns(text: string, core: RegExp | undefined): string {
  if (core === undefined) {
    return text;
  }
  let out = '';
  let end = 0;
  for (const match of text.matchAll(core)) {
    if (match.index >= end) {
      let from = match.index;
      while (from > end && isBase64(text, from - 1)) {
        from--;
      }
      out += `${text.slice(end, from)}${HIDDEN}`;
      end = match.index + match[0].length;
      while (end < text.length && isBase64(text, end)) {
        end++;
      }
    }
  }
  return out + text.slice(end);
}

function isBase64(text: string, at: number): boolean {
  return /[\w+/=-]/.test(text[at]!);
}

function matchAnyEncoding(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  const percent = encodeURIComponent(character).startsWith('%')
    ? encodeURIComponent(character)
    : `%${hex.padStart(2, '0')}`;
  const plain = character.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  const twice = percent.replaceAll('%', '%25');
  return `(?:${plain}|${percent}|${twice}|\\\\x${hex.padStart(2, '0')}|\\\\u${hex.padStart(4, '0')}|&#0*${code};|&#x0*${hex};)`;
}

/** Base64 of a short secret, alone or as a bearer: between what is no base64, since any word may hold so few letters. */
function wholeBase64(secret: string): string[] {
  return [secret, `Bearer ${secret}`].map(
    (text) => `(?<![\\w+/-])${matchAnySet(Buffer.from(text).toString('base64url'))}={0,2}(?![\\w+/-])`,
  );
}

/** Base64 for URLs has - and _ in the places of + and /. */
function matchAnySet(core: string): string {
  return core.replace(/[+-]/g, '[+-]').replace(/[/_]/g, '[/_]');
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
    .map(matchAnySet);
}
