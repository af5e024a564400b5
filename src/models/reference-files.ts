import { createHash } from 'node:crypto';
import { lstat, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import type { ClassCurves, ModelCurves, NumberCurves } from '../metrics/curves';
import type { HeldOutLosses } from '../metrics/held-out-losses';
import { LEVELS } from '../metrics/regression';
import { MAX_POINTS } from '../metrics/threshold-curve';
import { type Column, COLUMN_TYPES, type Label } from '../table/cells/types';
import { type ColumnBatch, type ColumnData, MISSING_BOOLEAN } from '../table/columns/column-batch';
import { BoundedMap } from '../util/collections';
import { Serial } from '../util/concurrency';
import { isNewer, makeFolder, readOwnFile, writeFileAtomic } from '../util/files';
import { isObject, tryParseJson } from '../util/values';
import type { DriftReference, KeyLoss, Reference, ReferenceCell, ReferenceLosses, Usual } from './cards';

/** Lists of the service are no longer than these. */
const MOST_MEANS = 500;
const MOST_GROUPS = 1000;
/** Keys that are kept, those with most rows first, and rows that a key must have. */
const MOST_KEYS = 200;
const LEAST_ROWS = 30;

/** More labels have one row and column of the confusion matrix together. */
const MAX_SIDE = 20;

/** The curves of a fit answer's `report`, or of a file; undefined where they are not as the embedded service sends them. */
export function readCurves(report: unknown): ModelCurves | undefined {
  const curves = isObject(report) ? report.curves : undefined;
  if (!isObject(curves) || typeof curves.rows !== 'number') {
    return undefined;
  }
  if (curves.kind === 'numbers') {
    return isNumberCurves(curves) ? curves : undefined;
  }
  return isClassCurves(curves) ? curves : undefined;
}

function isNumberCurves(curves: Record<string, unknown>): curves is Record<string, unknown> & NumberCurves {
  const { kind, residuals } = curves;
  return (
    kind === 'numbers' &&
    areNumbers(curves, ['actual', 'predicted']) &&
    isObject(residuals) &&
    areNumbers(residuals, ['edges']) &&
    areNumbers(residuals, ['counts'])
  );
}

function isClassCurves(curves: Record<string, unknown>): curves is Record<string, unknown> & ClassCurves {
  const { kind, labels, others, confusion, calibration, by_threshold: byThreshold } = curves;
  return (
    kind === 'classes' &&
    Array.isArray(labels) &&
    labels.every(isLabel) &&
    typeof others === 'boolean' &&
    Array.isArray(confusion) &&
    confusion.length <= MAX_SIDE &&
    confusion.length === labels.length + (others ? 1 : 0) &&
    confusion.every((row) => areEqualLists([row], confusion.length)) &&
    isObject(calibration) &&
    areNumbers(calibration, ['probability', 'share', 'rows']) &&
    (byThreshold === undefined ||
      (isObject(byThreshold) &&
        isLabel(byThreshold.positive) &&
        typeof byThreshold.positives === 'number' &&
        typeof byThreshold.negatives === 'number' &&
        areNumbers(byThreshold, ['at', 'hits', 'false_alarms']) &&
        ['number', 'undefined'].includes(typeof byThreshold.days)))
  );
}

function isLabel(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** Lists of numbers, each as long as the first. */
function areNumbers(of: Record<string, unknown>, names: string[]): boolean {
  const lists = names.map((name) => of[name]);
  return areEqualLists(lists, Array.isArray(lists[0]) ? lists[0].length : 0);
}

function areEqualLists(lists: unknown[], length: number): boolean {
  return lists.every(
    (list) =>
      Array.isArray(list) &&
      list.length === length &&
      list.length <= MAX_POINTS &&
      list.every((one) => typeof one === 'number'),
  );
}

/** How the rows of a train set belong together. */
export interface LossRows {
  /** They follow each other in time. */
  inTime: boolean;
  /** The label of each group, in the order in which groups come; undefined: not known. */
  labels?: readonly (Label | null)[] | undefined;
}

/** What is kept of the losses in a fit answer's `report`; undefined where it has none, or they are not as they should be. */
export function readLosses(report: unknown, { inTime, labels }: LossRows): ReferenceLosses | undefined {
  const losses = isObject(report) ? report.losses : undefined;
  if (!isHeldOut(losses)) {
    return undefined;
  }
  const { step, means, groups } = losses;
  const isKnown = groups !== undefined && groups.rows.length === labels?.length;
  const keys = isKnown ? keyLosses(groups, labels) : [];
  return inTime || keys.length > 0
    ? { step, means: inTime ? means : [], ...(keys.length > 0 && { keys }) }
    : undefined;
}

/** What a file holds of them. */
export function isReferenceLosses(value: unknown): value is ReferenceLosses {
  return (
    isObject(value) &&
    isHeldOut({ ...value, groups: undefined }) &&
    (value.keys === undefined || (Array.isArray(value.keys) && value.keys.every(isKeyLoss)))
  );
}

function keyLosses(
  { rows, means }: NonNullable<HeldOutLosses['groups']>,
  labels: readonly (Label | null)[],
): KeyLoss[] {
  const known = labels.flatMap((label, group): KeyLoss[] =>
    label === null || rows[group]! < LEAST_ROWS
      ? []
      : [{ key: String(label), rows: rows[group]!, loss: means[group]! }],
  );
  return known.sort((a, b) => b.rows - a.rows).slice(0, MOST_KEYS);
}

function isHeldOut(value: unknown): value is HeldOutLosses {
  if (!isObject(value)) {
    return false;
  }
  const { step, means, groups } = value;
  return (
    typeof step === 'number' &&
    step >= 1 &&
    areCounts(means, MOST_MEANS) &&
    (groups === undefined ||
      (isObject(groups) &&
        areCounts(groups.rows, MOST_GROUPS) &&
        areCounts(groups.means, MOST_GROUPS) &&
        groups.rows.length === groups.means.length))
  );
}

function areCounts(value: unknown, most: number): value is number[] {
  return (
    Array.isArray(value) && value.length <= most && value.every((one) => typeof one === 'number' && one >= 0)
  );
}

function isKeyLoss(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.key === 'string' &&
    typeof value.rows === 'number' &&
    typeof value.loss === 'number'
  );
}

/** What a file holds, where it is whole: undefined for anything else, since it may have been edited or cut. */
export function readReference(value: unknown): Reference | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  const { columns, rows, usual, drift, target, curves, losses, seen, putOff, until } = value;
  const isWhole =
    areAll(columns, isColumn) &&
    areAll(rows, (row) => areAll(row, isCell) && row.length === columns.length) &&
    areAll(usual, isUsual) &&
    areAll(drift, isDrift) &&
    usual.length === columns.length &&
    drift.length === columns.length &&
    (target === undefined || isUsualTarget(target)) &&
    (curves === undefined || readCurves(value) !== undefined) &&
    (losses === undefined || isReferenceLosses(losses)) &&
    (seen === undefined || isSeen(seen)) &&
    (putOff === undefined || isSeen(putOff)) &&
    (until === undefined || areAll(until, isKeyTime));
  return isWhole ? (value as unknown as Reference) : undefined;
}

function areAll<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[];
function areAll(value: unknown, is: (item: unknown) => boolean): value is unknown[];
function areAll(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function isSeen(value: unknown): boolean {
  return isObject(value) && typeof value.rows === 'number' && typeof value.digests === 'string';
}

function isKeyTime(value: unknown): boolean {
  return isObject(value) && typeof value.key === 'string' && typeof value.to === 'number';
}

function isColumn(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    (COLUMN_TYPES as readonly unknown[]).includes(value.type)
  );
}

function isCell(value: unknown): value is ReferenceCell {
  return (
    value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
  );
}

function isUsual(value: unknown): value is Usual {
  if (!isObject(value) || typeof value.missing !== 'number') {
    return false;
  }
  const { kind, q05, q10, median, q90, q95, min, max } = value;
  return kind === 'number'
    ? [q05, q10, median, q90, q95, min, max].every((one) => typeof one === 'number')
    : kind === 'category' && areAll(value.categories, isCell) && typeof value.complete === 'boolean';
}

function isUsualTarget(value: unknown): boolean {
  if (!isObject(value)) {
    return false;
  }
  const { kind, mean, quantiles, labels, counts } = value;
  return kind === 'numbers'
    ? typeof mean === 'number' && areAll(quantiles, isNumber) && quantiles.length === LEVELS.length
    : kind === 'classes' &&
        areAll(labels, isCell) &&
        areAll(counts, isNumber) &&
        counts.length === labels.length;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isDrift(value: unknown): value is DriftReference {
  return (
    isObject(value) &&
    areAll(value.shares, isNumber) &&
    (value.edges === undefined || areAll(value.edges, isNumber)) &&
    (value.categories === undefined || areAll(value.categories, isCell)) &&
    (value.threshold === undefined || typeof value.threshold === 'number')
  );
}

/** References held in memory: those in use, and all that there are where nothing can be written. */
const HELD = 16;
/** Characters of a file: beyond them every second row goes, and at last all that is not the curves. */
const MAX_SIZE = 2 * 1024 * 1024;
/** What an interrupted write left behind is removed after this. */
const STALE_MS = 3_600_000;
/** What no card means is removed after this: a card may still come, or a file of cards be put back. */
const ORPHAN_MS = 7 * 86_400_000;
/** The service that a file is of stands in its first bytes. */
const HEAD_BYTES = 4096;
const VERSION = 1;
const HEAD = /^\{"version":1,"service":("(?:[^"\\]|\\.)*"),"model":"/;
/** What an interrupted write leaves. */
const LEFT = /^[0-9a-f]{32}\.json\.[\w-]+\.tmp$/;
/** Folders that are made when they are gone: its own, and that of the cards. */
const NESTED_AT_MOST = 2;

/**
 * What is kept of train sets, a JSON file for each fitted model of one service. A file that is missing, damaged, of
 * another model, a link or of a newer version of this package is "not known", and one that cannot be written is held in
 * memory: neither is ever an error. A file of a newer version is not overwritten.
 */
export class ReferenceFiles {
  private readonly held = new BoundedMap<string, Reference>(HELD);
  private readonly steps = new Serial();
  private swept = false;

  /**
   * @param folder left out: memory only
   * @param meant ids of the models that there are cards of; undefined while that is not known
   */
  constructor(
    private readonly folder: string | undefined,
    private readonly service: string,
    private readonly meant: () => ReadonlySet<string> | undefined = () => undefined,
  ) {}

  async get(fittedId: string): Promise<Reference | undefined> {
    const held = this.held.get(fittedId);
    if (held !== undefined || this.folder === undefined) {
      return held;
    }
    return this.steps.run(async () => {
      const read = this.held.get(fittedId) ?? (await this.read(fittedId));
      if (read !== undefined) {
        this.held.set(fittedId, read);
      }
      return read;
    });
  }

  /** Resolves when it is on disk, or cannot be written. */
  put(fittedId: string, reference: Reference): Promise<void> {
    return this.steps.run(async () => {
      const fitting = withinSize(reference);
      this.held.set(fittedId, fitting.reference);
      if (this.folder === undefined) {
        return;
      }
      const { service } = this;
      const text = `{"version":1,"service":${JSON.stringify(service)},"model":${JSON.stringify(fittedId)},"reference":${fitting.text}}`;
      try {
        await makeFolder(this.folder, NESTED_AT_MOST);
        // Another process or node may remove a file before it is read.
        await this.sweep(this.folder).catch(() => undefined);
        const file = this.nameFile(this.folder, fittedId);
        if (!isNewer(await readBody(file), VERSION)) {
          await writeFileAtomic(file, text, true);
        }
      } catch {
        // The model works without it; the cards have warned of a folder that cannot be written.
      }
    });
  }

  /** The model is gone. @param first what has to be done before */
  remove(fittedId: string, first?: () => Promise<void> | undefined): Promise<void> {
    return this.steps.run(async () => {
      await first?.();
      this.held.delete(fittedId);
      if (this.folder !== undefined) {
        await rm(this.nameFile(this.folder, fittedId), { force: true }).catch(() => undefined);
      }
    });
  }

  /** Resolves when everything asked for so far is done. */
  idle(): Promise<void> {
    return this.steps.idle();
  }

  private async read(fittedId: string): Promise<Reference | undefined> {
    const body = await readBody(this.nameFile(this.folder!, fittedId));
    const isOwn =
      isObject(body) && !isNewer(body, VERSION) && body.service === this.service && body.model === fittedId;
    return isOwn ? readReference(body.reference) : undefined;
  }

  /** Ids of hosted services may hold any character, so a file is named by their hash. */
  private nameFile(folder: string, fittedId: string): string {
    const name = createHash('sha256')
      .update(JSON.stringify([this.service, fittedId]))
      .digest('hex');
    return path.join(folder, `${name.slice(0, 32)}.json`);
  }

  private async sweep(folder: string): Promise<void> {
    if (this.swept) {
      return;
    }
    this.swept = true;
    const ids = this.meant();
    const kept = ids && new Set(Array.from(ids, (id) => this.nameFile(folder, id)));
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name);
      const isOlder = async (ms: number): Promise<boolean> => Date.now() - (await lstat(file)).mtimeMs > ms;
      const isLeft = LEFT.test(name) && (await isOlder(STALE_MS));
      const isUnknown = name.endsWith('.json') && kept?.has(file) === false;
      if (isLeft || (isUnknown && (await isOlder(ORPHAN_MS)) && (await this.isOwn(file)))) {
        await rm(file, { force: true });
      }
    }
  }

  /** The file is of this service: others have theirs in the same folder. */
  private async isOwn(file: string): Promise<boolean> {
    const handle = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const [, service] = HEAD.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
      return service !== undefined && tryParseJson(service) === this.service;
    } finally {
      await handle.close();
    }
  }
}

/** What a file holds; undefined where it is missing, much too large, or cannot be read. */
async function readBody(file: string): Promise<unknown> {
  try {
    const { size } = await stat(file);
    return size > 2 * MAX_SIZE ? undefined : tryParseJson((await readOwnFile(file)).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** With as many of its rows as there is room for. */
function withinSize(given: Reference): { reference: Reference; text: string } {
  let reference = given;
  let text = JSON.stringify(reference);
  while (text.length > MAX_SIZE && reference.rows.length > 0) {
    reference = { ...reference, rows: reference.rows.filter((_, at) => at % 2 === 1) };
    text = JSON.stringify(reference);
  }
  if (text.length > MAX_SIZE) {
    const { target, curves, seen } = given;
    reference = { columns: [], rows: [], usual: [], drift: [], target, curves, seen };
    text = JSON.stringify(reference);
  }
  return { reference, text };
}

/**
 * Rows of a reference as a batch of these columns, held as `like` holds them.
 *
 * @param rows numbers of rows of the reference, from 0
 * @returns undefined where the reference lacks a column, or was made of another type of it
 */
export function referenceBatch(
  reference: Reference,
  columns: readonly Column[],
  like: ColumnBatch,
  rows: readonly number[],
): ColumnBatch | undefined {
  const data: ColumnData[] = [];
  for (const [index, { name }] of columns.entries()) {
    const at = reference.columns.findIndex((column) => column.name === name);
    const cells = rows.map((row) => reference.rows[row]?.[at] ?? null);
    const made = at < 0 ? undefined : readColumnData(like.columns[index]!.type, cells);
    if (made === undefined) {
      return undefined;
    }
    data.push(made);
  }
  return { rows: rows.length, columns: data };
}

function readColumnData(type: ColumnData['type'], cells: readonly ReferenceCell[]): ColumnData | undefined {
  const missing = Uint8Array.from(cells, (cell) => (cell === null ? 1 : 0));
  switch (type) {
    case 'number':
    case 'integer':
    case 'date':
      return cells.every((cell) => cell === null || typeof cell === 'number')
        ? { type, values: Float64Array.from(cells, (cell) => cell ?? Number.NaN) }
        : undefined;
    case 'boolean':
      return cells.every((cell) => cell === null || typeof cell === 'boolean')
        ? { type, values: Uint8Array.from(cells, (cell) => (cell === null ? MISSING_BOOLEAN : Number(cell))) }
        : undefined;
    case 'bigint':
      return cells.every((cell) => cell === null || /^-?\d+$/.test(String(cell)))
        ? { type, values: BigInt64Array.from(cells, (cell) => BigInt(cell ?? 0)), missing }
        : undefined;
    case 'text': {
      const texts = cells.map((cell) => Buffer.from(cell === null ? '' : String(cell)));
      const offsets = new Int32Array(cells.length + 1);
      texts.forEach((text, i) => (offsets[i + 1] = offsets[i]! + text.length));
      return { type, bytes: new Uint8Array(Buffer.concat(texts)), offsets, missing };
    }
  }
}
