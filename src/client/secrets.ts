/**
 * Keeps secrets out of texts: the access token, signed URLs (whole, and their parts), anything that looks like a
 * bearer or a JWT, and the path and query of any other URL, which may be signed too.
 */
export class Secrets {
  private readonly known = new Set<string>();

  constructor(token: string) {
    this.hide(token);
  }

  /** A signed URL of an upload; kept until `forget`. */
  addUrl(text: string): void {
    for (const part of partsOf(text)) {
      this.hide(part);
    }
  }

  forgetUrl(text: string): void {
    for (const part of partsOf(text)) {
      this.known.delete(part);
    }
  }

  /** The text without secrets, at most `longest` characters of it. */
  clean(text: string, longest = 600): string {
    let out = text.length > 20_000 ? text.slice(0, 20_000) : text;
    for (const secret of [...this.known].sort((a, b) => b.length - a.length)) {
      out = out.replaceAll(secret, '[hidden]');
    }
    out = out
      .replace(/\b(bearer)\s+[^\s"',;]+/gi, '$1 [hidden]')
      .replace(/\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)?/g, '[hidden]')
      .replace(/\b(https?:\/\/)(?:[^\s/@"'<>]*@)?([^\s/?#"'<>)]+)[^\s"'<>)]*/gi, '$1$2');
    return out.length > longest ? `${out.slice(0, longest)}…` : out;
  }

  private hide(text: string): void {
    if (text.length >= 4) {
      this.known.add(text);
    }
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
