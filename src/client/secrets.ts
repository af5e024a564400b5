import { hiderOf } from '../util/hide-secret';

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
    this.hideToken = token.length >= MIN_SECRET ? hiderOf(token) : undefined;
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
    const known = new Set([...this.urls].flatMap(partsOf));
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

function partsOf(text: string): string[] {
  if (!URL.canParse(text)) {
    return [text];
  }
  const url = new URL(text);
  const values = [...url.searchParams.values()].filter((value) => value.length >= 16);
  const search = url.search.slice(1);
  const path = url.pathname.length >= 16 ? [url.pathname] : [];
  return [text, url.href, ...path, ...(search === '' ? [] : [search]), ...values];
}
