import { createHash } from 'node:crypto';

import type { Cleaned, KeyTime, UploadCard } from '../models/cards';
import { chooseLimits, chooseVersion, describeExcess, sizeExcess, trainExcess } from '../models/limits';
import { sampleChoice } from '../models/reference';
import type { Context, Work } from '../models/service';
import type { Hooks, SetInput, TableChoices, TrainRequest } from '../models/types';
import { localZone } from '../table/cells/parse-date';
import type { Column, Label } from '../table/cells/types';
import type { TableSample } from '../table/columns/table-sample';
import { warmEncoder } from '../table/encoder/host';
import type { TableProfile } from '../table/inference/profile';
import { openTable, openTableFile, type TableSource } from '../table/open';
import { sha256, type TableFile } from '../table/storage/table-file';
import { ServiceError } from '../wire/service-error';
import type { ModelLimits } from '../wire/types';
import type { Task } from '../wire/vocabulary';
import { type Copies, findCopies } from './copies';
import {
  autoTask,
  checkTarget,
  cleanedWarnings,
  findSuspects,
  type Suspects,
  targetDoubts,
  targetWarnings,
} from './doubts';
import { encodePlanned, type Holdout, type NowScores, nowScores } from './holdout';
import { KEPT, type RowFacts } from './holdout-plan';
import { findMissingMarks } from './missing-marks';
import {
  assertColumns,
  type CheckedRequest,
  chooseHoldout,
  daysOfRows,
  describeFolds,
  findFacts,
  type Lineage,
  makeLineage,
  planTrainSet,
  relativeTask,
  type TrainSetRequest,
} from './row-plan';

/** Equal for the same train set fitted with the same options, whichever upload id it has. */
export function makeFingerprint(
  upload: Omit<UploadCard, 'id' | 'reused'>,
  task: Task,
  request: TrainRequest & { lineage: Lineage },
  learner: string | undefined,
): string {
  const { options, systems, thinking, holdout = 0, lineage, relativeTo, folds, order: wish } = request;
  const { order, group, embargo } = lineage;
  const isPlain = order !== 'time' && group === undefined && relativeTo === undefined;
  const parts = [
    upload.hash,
    upload.bytes,
    upload.rows,
    upload.target,
    upload.columns,
    task,
    sorted(options ?? {}),
    [...(systems ?? [])].sort(),
    sorted(thinking ?? {}),
    // Left out where there is none, so that fingerprints on disk stay valid.
    ...(holdout > 0 ? [holdout] : []),
    ...(isPlain ? [] : [{ order, group, embargo, relativeTo, folds }]),
    ...(learner !== undefined ? [learner] : []),
    // The embedded service looks for an order of its own, unless it is told that there is none.
    ...(learner !== undefined && isPlain && wish === 'none' ? [wish] : []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The table of a train set, read once and checked. */
export interface TrainTable {
  source: TableSource;
  /** With the columns that go into the files alone. */
  profile: TableProfile;
  /** The columns that are learned from. */
  features: Column[];
  /** The column of the groups, where there is one, is learned from too. */
  isFeature: boolean;
  /** What is known of its rows, where anything has to be. */
  facts: RowFacts | undefined;
  /** Rows to leave out, where they were looked for here. The embedded service looks for them by itself. */
  copies: Copies | undefined;
  limits: ModelLimits;
  /** Whether its files are compressed. */
  compress: boolean;
  request: CheckedRequest;
  /** What the task `auto` means. */
  auto: Task;
}

/**
 * Reads a train set for its types, and for what has to be known of its rows.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function readTrainTable(work: Work, request: TrainSetRequest): Promise<TrainTable> {
  const { target, types, group, relativeTo } = request;
  const { missingWords, unreadable, timezone = localZone(), missingTarget = 'leaveOut' } = request;
  const ignore = request.ignore ?? [];
  const { signal } = work;
  if (target === undefined) {
    throw new ServiceError(
      'target.missing',
      'No target is named: set the column to predict in the dialog or in msg.target.',
    );
  }
  // The table is read twice: to find the types, and to write the files.
  work.onStatus?.({ key: 'reading' });
  // The thread starts while the types are settled here.
  warmEncoder();
  const source = await openInput(request.table, signal);
  const whole = await source.profile({
    target,
    ignore: ignore.filter((name) => name !== group),
    types,
    missingTarget,
    missingWords,
    unreadable,
    timezone,
    signal,
    onRead: (part) => work.onStatus?.({ key: 'reading', fraction: part / 2 }),
  });
  for (const warning of whole.warnings) {
    work.onWarning?.(warning);
  }
  const auto = relativeTo === undefined ? autoTask(whole) : relativeTask(whole);
  const task = request.task === 'auto' ? auto : request.task;
  checkTarget(whole, task, missingTarget);
  assertColumns(whole, { ...request, target, ignore, task });
  const checked = { ...request, target, task };
  const { sendsFoldColumns = false } = request;
  const isFeature = group === undefined || !ignore.includes(group) || sendsFoldColumns;
  if (group !== undefined && ignore.includes(group) && sendsFoldColumns) {
    work.onWarning?.(
      `The group "${group}" is sent although it is ignored: the service draws the folds of its thinking by it. The service cannot leave it out of the features, so the model learns from it too, and predictions need it.`,
    );
  }
  const all = whole.columns.filter(({ name }) => name !== target && (isFeature || name !== group));
  if (all.length === 0) {
    throw new ServiceError(
      'table.invalid',
      `The table has no column but the target "${target}": nothing to learn from.`,
    );
  }
  const limits = await work.service.limits.forChecks(signal);
  assertWithinLimits(limits, whole, all.length, checked);
  for (const warning of targetWarnings(whole, task)) {
    work.onWarning?.(warning);
  }
  const copies = looksForCopies(work, checked)
    ? await findCopies(source, whole, checked.order === 'time' || group !== undefined, signal)
    : undefined;
  const read = { source, profile: whole, hasCopies: copies !== undefined };
  const facts = await findFacts(read, checked, signal);
  const others = sendsFoldColumns ? all : all.filter(({ name }) => name !== facts?.clock);
  const features = others.length > 0 ? others : all;
  // A group that is no feature travels with the features only where the service leaves it out by itself.
  const sent = new Set([target, work.service.takesFolds ? group : undefined]);
  for (const { name } of features) {
    sent.add(name);
  }
  const profile = { ...whole, columns: whole.columns.filter(({ name }) => sent.has(name)) };
  const compress = !work.service.isLocal;
  return { source, profile, features, isFeature, facts, copies, limits, compress, request: checked, auto };
}

/**
 * Rows that are kept back must not stand among those that are learned from, and a service that finds no copies draws its
 * folds without a look.
 */
function looksForCopies({ service }: Context, { holdout = 0, replace }: CheckedRequest): boolean {
  return holdout > 0 || replace === 'better' || !service.findsCopies;
}

export async function openInput(input: SetInput, signal: AbortSignal | undefined): Promise<TableSource> {
  if ('source' in input) {
    return input.source;
  }
  return 'path' in input ? openTableFile(input.path, { signal }) : openTable(input.value, { signal });
}

function assertWithinLimits(
  limits: ModelLimits,
  profile: TableProfile,
  columns: number,
  { task, options }: CheckedRequest,
): void {
  const set = chooseLimits(limits, chooseVersion(limits, options));
  const excess = trainExcess(set, {
    rows: profile.rows - (profile.target?.missing ?? 0),
    columns,
    ...(task === 'classification' && { classes: profile.target?.distinct ?? 0 }),
  });
  if (excess.length > 0) {
    const tooMany = excess.some(({ limit }) => limit === 'max_classes');
    const why = profile.target?.oddWords ?? profile.target?.hint?.problem;
    const hint = tooMany && why !== undefined ? ` ${why}` : '';
    throw new ServiceError(
      'limit.exceeded',
      `The train set is beyond the limits of the service: ${describeExcess(excess)}. Nothing was sent.${hint}`,
    );
  }
}

/** A train set on this side: its files, and what its upload card will say. */
export interface TrainSet {
  x: TableFile;
  y: TableFile;
  /** SHA-256 of each. */
  digests: { x: string; y: string };
  card: Omit<UploadCard, 'id' | 'reused'>;
  /** The rows that the files leave out. */
  holdout?: Holdout;
  /** A sample of the rows of the files, the target last, to be stored with the model's card. */
  sample?: TableSample;
  /** Columns that it is better without. */
  suspects?: Suspects;
  /** How many different rows there are, where they are few. */
  distinctRows?: number;
  /** Rows left out because they repeat others. */
  repeatedRows?: number;
  /** A doubt about the target that was already a warning when the table was read. */
  warned?: string;
  /** What the order of the rows says, for the model card. */
  lineage: Lineage;
  /** The column that tells the time of the rows, where one does. */
  timeColumn?: string;
  /** How the embedded service is to draw its folds. */
  folds?: Record<string, unknown>;
  /** Scores of predicting the current value of the target, over the rows of the files. */
  now?: NowScores;
  /** The newest time of each machine's rows, where they have a key. */
  trainedKeys?: readonly KeyTime[];
  /** The group of each group of rows in the files, in the order in which they come. */
  groupLabels?: readonly (Label | null)[];
  /** Days from the oldest row to the newest, those kept back among them. */
  days?: number;
}

/**
 * Reads, checks and encodes a train set. Nothing is sent.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function readTrainSet(work: Work, request: TrainSetRequest): Promise<TrainSet> {
  const table = await readTrainTable(work, request);
  const { facts } = table;
  const chosen = facts && (await chooseHoldout(facts, table.request, work));
  return encodeTrainTable(table, chosen, work);
}

/**
 * Encodes a train set that has been read.
 *
 * @param chosen what becomes of each row; undefined: all are learned from
 * @throws ServiceError `table.invalid`; `limit.exceeded` by the service's limits
 */
export async function encodeTrainTable(
  table: TrainTable,
  chosen: Uint8Array | undefined,
  hooks: Hooks,
): Promise<TrainSet> {
  const { source, profile, features, isFeature, facts, limits, compress, request, auto } = table;
  const { target, task } = request;
  const rowPlan = facts && (await planTrainSet(table, facts, chosen, hooks));
  const expected = rowPlan?.kept ?? facts?.rows ?? profile.rows - (profile.target?.missing ?? 0);
  const onProgress = (done: number): void =>
    hooks.onStatus?.({ key: 'reading', fraction: 0.5 + done / expected / 2 });
  const sampled = sampleChoice([...features, { name: target }], expected);
  const { format } = request;
  const written = { format, compress, sample: sampled, signal: hooks.signal, onProgress };
  const {
    x,
    y,
    cleaned: cells,
    sample,
  } = rowPlan === undefined
    ? await source.encodeTrainSet(profile, { target, ...written })
    : await encodePlanned(source, { columns: profile.columns, target, features }, rowPlan, written);
  let digests: TrainSet['digests'];
  try {
    for (const file of [x, y]) {
      const excess = sizeExcess(limits, file.bytes);
      if (excess.length > 0) {
        throw new ServiceError('limit.exceeded', `The train set is too large: ${describeExcess(excess)}.`);
      }
    }
    digests = { x: await sha256(x), y: await sha256(y) };
  } catch (error) {
    await Promise.all([x.dispose(), y.dispose()]);
    throw error;
  }
  const classes = profile.target?.classes;
  const cleaned: Cleaned = {
    rows_left_out: profile.rows - (facts?.rows ?? x.rows),
    cells_missing: cells,
    types: Object.fromEntries(profile.columns.map(({ name, type }) => [name, type])),
  };
  for (const warning of cleanedWarnings(cleaned, profile, target)) {
    hooks.onWarning?.(warning);
  }
  const sampledColumns = [...features, ...profile.columns.filter(({ name }) => name === target)];
  const marks = sample === undefined ? [] : findMissingMarks(sampledColumns, sample);
  for (const { columns, text } of marks) {
    if (!columns.includes(target)) {
      hooks.onWarning?.(text);
    }
  }
  const doubts = targetDoubts(profile, task);
  // Of a target they are learned as any other value.
  doubts.push(...marks.filter(({ columns }) => columns.includes(target)).map(({ text }) => text));
  return {
    x,
    y,
    digests,
    card: {
      set: 'train',
      format: x.format,
      rows: x.rows,
      bytes: x.bytes + y.bytes,
      hash: `${digests.x},${digests.y}`,
      target,
      columns: features,
      ...(classes !== undefined && { classes }),
      task: auto,
      cleaned,
      ...(doubts.length > 0 && { doubts }),
      ...(facts?.order === 'time' && { order: facts.order }),
    },
    sample,
    suspects: sample && findSuspects({ ...request, columns: features, task, order: facts?.order }, sample),
    holdout: rowPlan?.holdout,
    distinctRows: profile.distinctRows,
    repeatedRows: table.copies?.count,
    warned: profile.target?.hint?.problem,
    lineage: makeLineage(request, facts),
    timeColumn: facts?.timeColumn?.name,
    folds: describeFolds(request, facts?.order ?? 'none', isFeature, facts?.relative && request.relativeTo),
    trainedKeys: facts?.trainedKeys ?? request.trainedKeys,
    groupLabels: facts && groupsInFiles(facts, rowPlan?.plan),
    days: daysOfRows(request, facts),
    now: facts === undefined ? undefined : await nowScores(facts, rowPlan?.plan),
  };
}

function groupsInFiles(
  { groups, groupLabels }: RowFacts,
  plan: Uint8Array | undefined,
): readonly (Label | null)[] | undefined {
  const kept = groups?.filter((_, row) => plan === undefined || plan[row] === KEPT);
  return kept && Array.from(new Set(kept), (group) => groupLabels![group]!);
}

/** Sends a train set and keeps its upload card. */
export async function sendTrainSet(
  work: Work,
  set: TrainSet,
  choices: TableChoices,
  byFit?: true,
): Promise<UploadCard> {
  const { service } = work;
  const onProgress = (sent: number, total: number): void => {
    work.onStatus?.({ key: 'uploading', sent, total });
  };
  let noted: UploadCard | undefined;
  // If the process is killed before the card is stored, the next start removes what has arrived.
  const note = async (id: string): Promise<void> => {
    noted = { ...set.card, id, reused: false, by_fit: true };
    work.cards.putUpload(noted);
    await work.cards.flush();
  };
  const sent = await service.reach.of(
    service.uploadTrainSet(
      {
        x: set.x,
        y: set.y,
        digests: set.digests,
        ...(choices.description !== undefined && { description: choices.description }),
        ...(choices.forceReupload === true && { force: true }),
        ...(choices.chunks === true && { chunks: true }),
      },
      { signal: work.signal, onProgress, onPrepared: note },
    ),
  );
  if (byFit === true && !sent.reused && noted?.id === sent.train_set_upload_id) {
    return noted;
  }
  const card: UploadCard = { ...set.card, id: sent.train_set_upload_id, reused: sent.reused };
  const known = sent.reused ? work.cards.upload(card.id) : undefined;
  if (byFit === true && (known === undefined ? !sent.reused : known.by_fit === true)) {
    card.by_fit = true;
  }
  work.cards.putUpload(card);
  return card;
}
