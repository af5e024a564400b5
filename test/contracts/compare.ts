/** What later releases did on purpose. */
export interface Purpose {
  /** Properties that are new, by the end of their path without the numbers of lists: `model.scores.events`. */
  added: readonly string[];
  /** Values that are others, as the lines that `differences` has for them; "…" at the end stands for any rest. */
  changed: readonly (string | RegExp)[];
}

/**
 * How what is differs from what was recorded, one line for each place. Every property that was recorded must be there
 * with the same value, and no other property, unless that is on purpose.
 */
export function differences(
  what: string,
  recorded: unknown,
  found: unknown,
  { added, changed }: Purpose,
): string[] {
  const lines: string[] = [];
  compare(recorded, found, '', '');
  return lines.map((line) => `${what}: ${line}`).filter((line) => !changed.some(isSaid(line)));

  function compare(was: unknown, is: unknown, path: string, plainPath: string): void {
    if (Object.is(was, is) || (path.endsWith('.effect') && isRounding(was, is))) {
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
      if (!(name in before) && !isAdded(join(plainPath, name))) {
        lines.push(`${join(path, name)}: is new, ${shown(value)}`);
      }
    }
  }

  function isAdded(path: string): boolean {
    return added.some((end) => path === end || path.endsWith(`.${end}`));
  }
}

/** An effect is a sum over trees; in another order of adding its last digits are others. */
function isRounding(was: unknown, is: unknown): boolean {
  return (
    typeof was === 'number' &&
    typeof is === 'number' &&
    Math.abs(was - is) <= 1e-9 * Math.max(1, Math.abs(was))
  );
}

function isSaid(line: string): (told: string | RegExp) => boolean {
  return (told) => {
    if (typeof told !== 'string') {
      return told.test(line);
    }
    return told.endsWith('…') ? line.startsWith(told.slice(0, -1)) : line === told;
  };
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** An alarm of a value or an edge of a band says of which target it is, and the number as it did. */
export const NAMED_ALARM = new RegExp(
  [
    String.raw`: was "([^"]*: )The (?:predicted value|upper edge of the band|lower edge of the band) has reached ([\d.]+) (\(alarm at .*)", is "\1[^"]+: (?:predicted|(?:upper|lower) edge of the band) \2 \3"$`,
    String.raw`: was "([^"]*: )The alarm is over: the (?:predicted value|upper edge of the band|lower edge of the band) is back at ([\d.]+)\.", is "\4The alarm is over\. [^"]+: (?:predicted|(?:upper|lower) edge of the band) \5\."$`,
  ].join('|'),
);
