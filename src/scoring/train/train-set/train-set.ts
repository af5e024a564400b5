import { encodeTrainSet, type Label, sha256, type TableFile, type TableSample } from '../../../table';
import { ServiceError } from '../../../wire/service-error';
import type { Context } from '../../context/context';
import { describeExcess, sizeExcess } from '../../context/limits';
import { sampleChoice } from '../../reference/sample-choice';
import type { KeyTime } from '../../reference/types';
import type { Cleaned, Hooks, TableChoices, UploadCard } from '../../types';
import { encodePlanned, type Holdout } from '../holdout/holdout';
import { KEPT } from '../holdout/holdout-plan';
import { type NowScores, nowScores } from '../holdout/now-scores';
import type { RowFacts } from '../holdout/row-facts';
import { cleanedWarnings, targetDoubts } from './doubts';
import {
  chooseHoldout,
  daysOfRows,
  foldsOf,
  type Lineage,
  lineageOf,
  planTrainSet,
  type TrainSetRequest,
} from './row-plan';
import { type Suspects, suspectsOf } from './suspects';
import { readTrainTable, type TrainTable } from './train-table';

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
export async function readTrainSet(
  context: Context,
  request: TrainSetRequest,
  hooks: Hooks,
): Promise<TrainSet> {
  const table = await readTrainTable(context, request, hooks);
  const { facts } = table;
  const chosen = facts && (await chooseHoldout(facts, table.request, hooks));
  return encodeTrainTable(table, chosen, hooks);
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
    ? await encodeTrainSet(source, profile, { target, ...written })
    : await encodePlanned(source, profile.columns, target, rowPlan, features, written);
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
    sample,
    suspects: sample && suspectsOf({ ...request, columns: features, task, order: facts?.order }, sample),
    holdout: rowPlan?.holdout,
    distinctRows: profile.distinctRows,
    repeatedRows: table.copies?.count,
    warned: profile.target?.hint?.problem,
    lineage: lineageOf(request, facts),
    timeColumn: facts?.timeColumn?.name,
    folds: foldsOf(request, facts?.order ?? 'none', isFeature, facts?.relative && request.relativeTo),
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
  context: Context,
  set: TrainSet,
  choices: TableChoices,
  hooks: Hooks,
  byFit?: true,
): Promise<UploadCard> {
  const { service } = context;
  const onProgress = (sent: number, total: number): void => {
    hooks.onStatus?.({ key: 'uploading', sent, total });
  };
  // If the process is killed before the card is stored, the next start removes what has arrived.
  const note = async (id: string): Promise<void> => {
    context.cards.putUpload({ ...set.card, id, reused: false, by_fit: true });
    await context.cards.flush();
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
      { signal: hooks.signal, onProgress, onPrepared: note },
    ),
  );
  const card: UploadCard = { ...set.card, id: sent.train_set_upload_id, reused: sent.reused };
  const known = sent.reused ? context.cards.upload(card.id) : undefined;
  if (byFit === true && (known === undefined ? !sent.reused : known.by_fit === true)) {
    card.by_fit = true;
  }
  context.cards.putUpload(card);
  return card;
}
