/** Properties that one release did not have yet. Each is a deliberate addition: what was there stays as it was. */
export type Additions = readonly string[];

/**
 * How what is differs from what was recorded, one line for each place. Every property that was recorded must be there
 * with the same value. A new property is a difference too, unless `additions` has its path without the numbers of
 * lists: `msg.model.versions.scores`.
 */
export function differences(recorded: unknown, found: unknown, additions: Additions = []): string[] {
  const lines: string[] = [];
  compare(recorded, found, '', '');

  function compare(was: unknown, is: unknown, path: string, plainPath: string): void {
    if (Object.is(was, is)) {
      return;
    }
    if (typeof was !== 'object' || typeof is !== 'object' || was === null || is === null) {
      lines.push(`${path}: was ${shown(was)}, is ${shown(is)}`);
      return;
    }
    if (Array.isArray(was) || Array.isArray(is)) {
      if (!Array.isArray(was) || !Array.isArray(is) || was.length !== is.length) {
        lines.push(`${path}: was ${shown(was)}, is ${shown(is)}`);
        return;
      }
      was.forEach((one, i) => compare(one, is[i], `${path}[${i}]`, plainPath));
      return;
    }
    const [before, after] = [was, is] as [Record<string, unknown>, Record<string, unknown>];
    for (const [name, value] of Object.entries(before)) {
      if (name in after) {
        compare(value, after[name], join(path, name), join(plainPath, name));
      } else {
        lines.push(`${join(path, name)}: was ${shown(value)}, is gone`);
      }
    }
    for (const [name, value] of Object.entries(after)) {
      if (!(name in before) && !additions.includes(join(plainPath, name))) {
        lines.push(`${join(path, name)}: is new, ${shown(value)}`);
      }
    }
  }

  return lines;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
