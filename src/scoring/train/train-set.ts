import {
  encodeTrainSet,
  localZone,
  openTable,
  openTableFile,
  profileTable,
  sha256,
  type TableFile,
  type TableProfile,
  type TableSource,
  warmEncoder,
} from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { ModelLimits } from '../../wire/types';
import type { Context } from '../context/context';
import { describeExcess, limitSetOf, sizeExcess, trainExcess, versionOf } from '../context/limits';
import type { Cleaned, Hooks, SetInput, TableChoices, Task, UploadCard } from '../types';
import { autoTask, checkTarget, targetWarnings } from './auto-task';
import { cleanedWarnings, targetDoubts } from './doubts';
import { encodePlanned, type Holdout } from './holdout';
import { type NowScores, nowScores } from './now-scores';
import { featureColumns } from './row-facts';
import {
  assertColumns,
  factsOf,
  foldsOf,
  type Lineage,
  lineageOf,
  planTrainSet,
  relativeTask,
  type TrainSetRequest,
} from './row-plan';

/** A train set on this side: its files, and what its upload card will say. */
export interface TrainSet {
  x: TableFile;
  y: TableFile;
  /** SHA-256 of each. */
  digests: { x: string; y: string };
  card: Omit<UploadCard, 'id' | 'reused'>;
  /** The rows that the files leave out. */
  holdout?: Holdout;
  /** How many different rows there are, where they are few. */
  distinctRows?: number;
  /** What the order of the rows says, for the model card. */
  lineage: Lineage;
  /** How the embedded service is to draw its folds. */
  folds?: Record<string, unknown>;
  /** Scores of taking the target as it is now, over the rows of the files. */
  now?: NowScores;
}

/**
 * Reads, checks and encodes a train set. Nothing is sent.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function readTrainSet(
  context: Context,
  request: TrainSetRequest,
  hooks: Hooks,
): Promise<TrainSet> {
  const { target, types, format, group, relativeTo } = request;
  const { missingWords, unreadable, timezone = localZone(), missingTarget = 'leaveOut' } = request;
  const ignore = request.ignore ?? [];
  const { signal } = hooks;
  if (target === undefined) {
    throw new ServiceError(
      'target.missing',
      'No target is named: set the column to predict in the dialog or in msg.target.',
    );
  }
  // The table is read twice: to find the types, and to write the files.
  const read = (fraction: number): void => hooks.onStatus?.({ key: 'reading', fraction });
  hooks.onStatus?.({ key: 'reading' });
  // The thread starts while the types are settled here.
  warmEncoder();
  const source = await openInput(request.table, signal);
  const whole = await profileTable(source, {
    target,
    ignore: ignore.filter((name) => name !== group),
    types,
    missingTarget,
    missingWords,
    unreadable,
    timezone,
    signal,
    onRead: (part) => read(part / 2),
  });
  for (const warning of whole.warnings) {
    hooks.onWarning?.(warning);
  }
  const auto = relativeTo === undefined ? autoTask(whole) : relativeTask(whole);
  const task = request.task === 'auto' ? auto : request.task;
  checkTarget(whole, task, missingTarget);
  assertColumns(whole, { ...request, target, ignore, task });
  const checked = { ...request, target, task };
  const isFeature = group === undefined || !ignore.includes(group);
  const all = featureColumns(whole, target, isFeature ? [] : [group]);
  if (all.length === 0) {
    throw new ServiceError(
      'table.invalid',
      `The table has no column but the target "${target}": nothing to learn from.`,
    );
  }
  const limits = await context.limits.forChecks(signal);
  assertWithinLimits(limits, whole, all.length, task, request.options);
  for (const warning of targetWarnings(whole, task)) {
    hooks.onWarning?.(warning);
  }
  const facts = await factsOf(source, whole, checked, signal);
  const others = all.filter(({ name }) => name !== facts?.clock);
  const features = others.length > 0 ? others : all;
  // A group that is no feature travels with the features only where the service leaves it out by itself.
  const sent = new Set([target, ...features.map(({ name }) => name)]);
  if (group !== undefined && context.key === 'embedded') {
    sent.add(group);
  }
  const profile = { ...whole, columns: whole.columns.filter(({ name }) => sent.has(name)) };
  const rowPlan =
    facts && (await planTrainSet(source, { columns: profile.columns, features }, facts, checked, hooks));
  const expected = rowPlan?.kept ?? profile.rows;
  const onProgress = (done: number): void => read(0.5 + done / expected / 2);
  const written = { format, signal, onProgress };
  const {
    x,
    y,
    cleaned: cells,
  } = rowPlan === undefined
    ? await encodeTrainSet(source, profile, { target, ...written })
    : await encodePlanned(source, profile.columns, target, rowPlan, features, written);
  let digests: TrainSet['digests'];
  try {
    for (const file of [x, y]) {
      const excess = sizeExcess(limits, file.bytes);
      if (excess.length > 0) {
        throw new ServiceError(
          'limit.exceeded',
          `The train set is too large: ${describeExcess(excess)} bytes.`,
        );
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
  const doubts = targetDoubts(profile, task);
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
    holdout: rowPlan?.holdout,
    distinctRows: profile.distinctRows,
    lineage: lineageOf(request, facts),
    folds: foldsOf(request, facts?.order ?? 'none', isFeature),
    now: facts === undefined ? undefined : await nowScores(facts, rowPlan?.plan),
  };
}

/** Sends a train set and keeps its upload card. */
export async function sendTrainSet(
  context: Context,
  set: TrainSet,
  choices: TableChoices,
  hooks: Hooks,
  byFit?: true,
): Promise<UploadCard> {
  const client = await context.client();
  const onProgress = (sent: number, total: number): void => {
    hooks.onStatus?.({ key: 'uploading', sent, total });
  };
  const sent = await client.uploadTrainSet(
    {
      x: set.x,
      y: set.y,
      // A hosted service knows files by their CRC32C alone.
      ...(context.key === 'embedded' && { digests: set.digests }),
      ...(choices.description !== undefined && { description: choices.description }),
      ...(choices.forceReupload === true && { force: true }),
      ...(choices.chunks === true && { chunks: true }),
    },
    { signal: hooks.signal, onProgress },
  );
  const card: UploadCard = { ...set.card, id: sent.train_set_upload_id, reused: sent.reused };
  const known = sent.reused ? context.cards.upload(card.id) : undefined;
  if (byFit === true && (known === undefined ? !sent.reused : known.by_fit === true)) {
    card.by_fit = true;
  }
  context.cards.putUpload(card);
  return card;
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
  task: Task,
  options: Record<string, unknown>,
): void {
  const set = limitSetOf(limits, versionOf(limits, options));
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
