import {
  encodeTrainSet,
  openTable,
  openTableFile,
  profileTable,
  type TableFile,
  type TableProfile,
  type TableSource,
  warmEncoder,
} from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { ModelLimits } from '../../wire/types';
import type { Context } from '../context/context';
import { describeExcess, limitSetOf, sizeExcess, trainExcess, versionOf } from '../context/limits';
import type { Hooks, SetInput, TableChoices, Task, UploadCard } from '../types';
import { autoTask, checkTarget, targetWarnings } from './auto-task';
import { encodeKept, type Holdout, planHoldout } from './holdout';

/** A train set on this side: its files, and what its upload card will say. */
export interface TrainSet {
  x: TableFile;
  y: TableFile;
  card: Omit<UploadCard, 'id' | 'reused'>;
  /** The rows that the files leave out. */
  holdout?: Holdout;
}

export interface TrainSetRequest extends TableChoices {
  table: SetInput;
  target: string | undefined;
  task: 'auto' | Task;
  options: Record<string, unknown>;
  /** Percent of the rows to keep back. */
  holdout?: number;
}

/**
 * Reads, checks and encodes a train set. Nothing is sent.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function prepareTrainSet(
  context: Context,
  request: TrainSetRequest,
  hooks: Hooks,
): Promise<TrainSet> {
  const { target, ignore, types, format } = request;
  const { signal } = hooks;
  if (target === undefined || target === '') {
    throw new ServiceError(
      'target.missing',
      'No target is named: set the column to predict in the dialog or in msg.target.',
    );
  }
  // The table is gone over twice: to settle the types, and to write the files.
  const read = (fraction: number): void => hooks.onStatus?.({ key: 'reading', fraction });
  hooks.onStatus?.({ key: 'reading' });
  // The thread starts while the types are settled here.
  warmEncoder();
  const source = await openInput(request.table, signal);
  const profile = await profileTable(source, {
    target,
    ignore,
    types,
    signal,
    onRead: (part) => read(part / 2),
  });
  for (const warning of profile.warnings) {
    hooks.onWarning?.(warning);
  }
  const auto = autoTask(profile);
  const task = request.task === 'auto' ? auto : request.task;
  checkTarget(profile, task);
  const columns = profile.columns.filter((column) => column.name !== target);
  if (columns.length === 0) {
    throw new ServiceError(
      'table.invalid',
      `The table has no column but the target "${target}": nothing to learn from.`,
    );
  }
  const limits = await context.limits.forChecks(signal);
  demandWithinLimits(limits, profile, columns.length, task, request.options);
  for (const warning of targetWarnings(profile, task)) {
    hooks.onWarning?.(warning);
  }
  const split = await splitOff(source, profile, { ...request, target, task }, hooks);
  const rows = split?.holdout.kept ?? profile.rows;
  const onProgress = (done: number): void => read(0.5 + done / rows / 2);
  const { x, y } =
    split === undefined
      ? await encodeTrainSet(source, profile, { target, format, signal, onProgress })
      : await encodeKept(source, profile, target, split, { format, signal, onProgress });
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
  } catch (error) {
    await Promise.all([x.dispose(), y.dispose()]);
    throw error;
  }
  const classes = profile.target?.classes;
  return {
    x,
    y,
    card: {
      set: 'train',
      format: x.format,
      rows,
      bytes: x.bytes + y.bytes,
      hash: `${x.hash},${y.hash}`,
      target,
      columns,
      ...(classes !== undefined && { classes }),
      task: auto,
    },
    ...(split !== undefined && { holdout: split.holdout }),
  };
}

/** The rows to keep back, where that is asked for. */
async function splitOff(
  source: TableSource,
  profile: TableProfile,
  request: TrainSetRequest & { target: string; task: Task },
  { signal, onWarning }: Hooks,
): Promise<{ mask: Uint8Array; holdout: Holdout } | undefined> {
  const { holdout: percent = 0, options, target, task } = request;
  if (percent <= 0) {
    return undefined;
  }
  const seed = typeof options.random_state === 'number' ? options.random_state : 0;
  const split = await planHoldout(source, profile, { target, task, percent, seed, signal });
  if (split === undefined) {
    onWarning?.(`No row can be kept back: ${percent} % of ${profile.rows} rows is less than one.`);
  }
  return split;
}

/** Sends a train set and keeps its upload card. */
export async function sendTrainSet(
  context: Context,
  set: TrainSet,
  choices: TableChoices,
  hooks: Hooks,
): Promise<UploadCard> {
  const client = await context.client();
  const onProgress = (sent: number, total: number): void => {
    hooks.onStatus?.({ key: 'uploading', sent, total });
  };
  const sent = await client.uploadTrainSet(
    {
      x: set.x,
      y: set.y,
      ...(choices.description !== undefined &&
        choices.description !== '' && { description: choices.description }),
      ...(choices.forceReupload === true && { force: true }),
      ...(choices.chunks === true && { chunks: true }),
    },
    { signal: hooks.signal, onProgress },
  );
  const card: UploadCard = { ...set.card, id: sent.train_set_upload_id, reused: sent.reused };
  context.cards.putUpload(card);
  return card;
}

export async function openInput(input: SetInput, signal: AbortSignal | undefined): Promise<TableSource> {
  if ('source' in input) {
    return input.source;
  }
  return 'path' in input ? openTableFile(input.path, { signal }) : openTable(input.value, { signal });
}

function demandWithinLimits(
  limits: ModelLimits,
  profile: TableProfile,
  columns: number,
  task: Task,
  options: Record<string, unknown>,
): void {
  const set = limitSetOf(limits, versionOf(limits, options));
  const excess = trainExcess(set, {
    rows: profile.rows,
    columns,
    ...(task === 'classification' && { classes: profile.target?.distinct ?? 0 }),
  });
  if (excess.length > 0) {
    const tooMany = excess.some(({ limit }) => limit === 'max_classes');
    const hint = tooMany && profile.target?.hint !== undefined ? ` ${profile.target.hint.problem}` : '';
    throw new ServiceError(
      'limit.exceeded',
      `The train set is beyond the limits of the service: ${describeExcess(excess)}. Nothing was sent.${hint}`,
    );
  }
}
