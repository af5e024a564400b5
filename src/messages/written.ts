import { setCell } from '../table';
import { asBytes } from '../util/values';
import { opened } from './paths';
import { elementsOfXml } from './xml';

const MAX_CHARACTERS = 2 ** 20;
const MAX_SAMPLES = 10_000;
const SAMPLE =
  /^([a-zA-Z_:][\w:]*(?:\{(?:[^"}]|"(?:\\.|[^"\\])*")*\})?)\s+([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+|Inf)|NaN)(?:\s+(-?\d+))?$/i;

/**
 * The samples of a text of metrics as exporters of Prometheus answer it, for each time that it names: a column for each
 * metric with its labels as they are written; any other value as it is. The buckets of histograms are left out.
 * https://github.com/prometheus/docs/blob/main/content/docs/instrumenting/exposition_formats.md (text format)
 */
function metricsOfText(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS || !/^\s*# (?:HELP|TYPE) /.test(value)) {
    return value;
  }
  const rows = new Map<string, Record<string, unknown>>();
  let samples = 0;
  for (const written of value.split('\n')) {
    const line = written.trim();
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    const parts = SAMPLE.exec(line);
    if (parts === null || ++samples > MAX_SAMPLES) {
      return value;
    }
    const [, name, number, time = ''] = parts;
    if (/_bucket\{/.test(name!)) {
      continue;
    }
    const row = rows.get(time) ?? {};
    rows.set(time, row);
    const read = Number(number);
    setCell(row, name!, Number.isFinite(read) ? read : null);
  }
  const found = [...rows].map(([time, values]) => ({
    values,
    ...(time !== '' && { timestamp: Number(time) }),
  }));
  return found.length === 0 ? value : { '#samples': found };
}

/** A longer text is a table. */
export const MAX_VALUE_CHARACTERS = 4096;
const MAX_JSON_BYTES = 2 ** 20;

/** A payload as it is meant: bytes of text as text, JSON in it opened. */
export function parsePayload(payload: unknown): unknown {
  const bytes = asBytes(payload);
  if (bytes === undefined) {
    return written(payload);
  }
  const isJson = bytes[0] === 123 || bytes[0] === 91;
  return bytes.length > (isJson ? MAX_JSON_BYTES : MAX_VALUE_CHARACTERS) || bytes.includes(0)
    ? payload
    : written(Buffer.from(bytes).toString('utf8'));
}

/** What a text means that has a form of its own; of an object, the document that it is of. */
function written(payload: unknown): unknown {
  const value = opened(payload);
  return typeof value === 'string' ? metricsOfText(pairsOfText(pointsOfLines(value))) : elementsOfXml(value);
}

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
const MAX_LINE_CHARACTERS = 2 ** 16;

/**
 * Points of a text in the line protocol of InfluxDB, which Telegraf sends unless JSON is chosen; any other value as it is.
 * https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/
 */
function pointsOfLines(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_LINE_CHARACTERS || !value.includes('=')) {
    return value;
  }
  const lines = value.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0 || lines.length > MAX_LINES) {
    return value;
  }
  const points: Point[] = [];
  for (const line of lines) {
    const parts = LINE.exec(line);
    const fields = parts === null ? undefined : parseFields(parts[3]!);
    // `temp=21.5 hum=40` has no measurement that is called `temp=21.5`.
    const isOfPairs = parts?.[2] === '' && parts[4] === undefined && parts[1]!.includes('=');
    if (parts === null || fields === undefined || isOfPairs) {
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
/** `temp=21.5 hum=40`, as scripts on small boards print it. */
const SPACED = /^[^\s,;&:=]+[:=][^\s,;&:=]+(?:\s+[^\s,;&:=]+[:=][^\s,;&:=]+)+$/;
const MAX_PAIRS = 500;

/**
 * Names with numbers in a text, such as `power1:100,power2:200` of Emoncms, and its lists of three numbers or more; any
 * other value as it is.
 * https://docs.openenergymonitor.org/emoncms/postingdata.html
 */
function pairsOfText(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_LINE_CHARACTERS) {
    return value;
  }
  if (NUMBERS.test(value)) {
    return value.split(',').map(Number);
  }
  const text = value.trim().replace(/^\{(.*)\}$/, '$1');
  const parts = text.split(SPACED.test(text) ? /\s+/ : /[,;&]/);
  const found = parts.length > MAX_PAIRS ? [null] : parts.map((part) => PAIR.exec(part));
  return found.every((pair) => pair !== null)
    ? Object.fromEntries(found.map((pair) => [pair[1]!, Number(pair[2])]))
    : value;
}

/** undefined where a value is none of the line protocol: `a=b` may be any text. */
function parseFields(text: string): Record<string, unknown> | undefined {
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
