/** A point of InfluxDB, as its nodes take them. */
interface Point {
  measurement: string;
  tags: Record<string, string>;
  fields: Record<string, unknown>;
  /** As it is written: nanoseconds, unless the sender chose another precision. */
  timestamp?: string;
}

/** Characters of a line with a backslash before them, and text in quotes. */
const PART = String.raw`(?:\\.|[^\\\s,="])+`;
const FIELD = String.raw`${PART}=(?:"(?:\\.|[^"\\])*"|[^\s,"]+)`;
const LINE = new RegExp(
  String.raw`^((?:\\.|[^\\\s,])+)((?:,${PART}=(?:\\.|[^\\\s,=])+)*) +(${FIELD}(?:,${FIELD})*)(?: +(-?\d+))?\s*$`,
);
const MAX_LINES = 1000;
const MAX_CHARACTERS = 2 ** 16;

/**
 * Points of a text in the line protocol of InfluxDB, which Telegraf sends unless JSON is chosen; any other value as it is.
 * https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
 */
export function pointsOfLines(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !value.includes('=')) {
    return value;
  }
  const lines = value.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0 || lines.length > MAX_LINES) {
    return value;
  }
  const points: Point[] = [];
  for (const line of lines) {
    const parts = LINE.exec(line);
    const fields = parts === null ? undefined : fieldsOf(parts[3]!);
    if (parts === null || fields === undefined) {
      return value;
    }
    points.push({
      measurement: unescaped(parts[1]!),
      tags: Object.fromEntries(pairs(parts[2]!).map(([name, text]) => [name, unescaped(text)])),
      fields,
      ...(parts[4] !== undefined && { timestamp: parts[4] }),
    });
  }
  return points;
}

const PAIR = /^\s*"?([A-Za-z_][\w./-]*)"?\s*[:=]\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*$/i;
const NUMBERS = /^\s*[+-]?\d+(?:\.\d+)?(?:\s*,\s*[+-]?\d+(?:\.\d+)?){2,}\s*$/;
const MAX_PAIRS = 500;

/**
 * Names with numbers in a text, such as `power1:100,power2:200` of Emoncms, and its lists of three numbers or more; any
 * other value as it is.
 * https://docs.openenergymonitor.org/emoncms/postingdata.html
 */
export function pairsOfText(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS) {
    return value;
  }
  if (NUMBERS.test(value)) {
    return value.split(',').map(Number);
  }
  const parts = value
    .trim()
    .replace(/^\{(.*)\}$/, '$1')
    .split(/[,;&]/);
  const found = parts.length > MAX_PAIRS ? [null] : parts.map((part) => PAIR.exec(part));
  return found.every((pair) => pair !== null)
    ? Object.fromEntries(found.map((pair) => [pair[1]!, Number(pair[2])]))
    : value;
}

/** undefined where a value is none of the line protocol: `a=b` may be any text. */
function fieldsOf(text: string): Record<string, unknown> | undefined {
  const fields: Record<string, unknown> = {};
  for (const [name, written] of pairs(text)) {
    const value = fieldValue(written);
    if (value === undefined) {
      return undefined;
    }
    fields[name] = value;
  }
  return fields;
}

function fieldValue(text: string): unknown {
  if (text.startsWith('"')) {
    return text.slice(1, -1).replace(/\\(["\\])/g, '$1');
  }
  if (/^(?:t|true)$/i.test(text) || /^(?:f|false)$/i.test(text)) {
    return /^t/i.test(text);
  }
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[iu]?$/i.test(text)
    ? Number(text.replace(/[iu]$/, ''))
    : undefined;
}

function pairs(text: string): [name: string, value: string][] {
  const found = text.matchAll(/,?((?:\\.|[^\\,=])+)=("(?:\\.|[^"\\])*"|(?:\\.|[^\\,])+)/g);
  return [...found].map((match) => [unescaped(match[1]!), match[2]!]);
}

const unescaped = (text: string): string => text.replace(/\\([,= ])/g, '$1');
