import type {
  Challenger,
  FittedModel,
  ModelCard,
  SeenRows,
  VersionComparison,
  VersionReason,
} from '../models/cards';
import type { FitUnderWay } from '../models/fits-under-way';
import { predictToEstimate } from '../models/limits';
import { columnTime } from '../models/row-times';
import type { Context, Work } from '../models/service';
import type { Hooks, TrainRequest, TrainResult } from '../models/types';
import type { TableSource } from '../table/open';
import { type ServiceError, toServiceError } from '../wire/service-error';
import { digestRows } from './copies';
import {
  type Answers,
  compared,
  decayedUncompared,
  decide,
  FIRST,
  gone,
  LATE,
  laterRows,
  muchGrown,
  notePutOff,
  otherColumns,
  otherTarget,
  ROWS_UNKNOWN,
  type RowsInTime,
  tooFew,
  UNCHANGED,
} from './decision';
import { askRows, type Holdout, quantilesIn, readChances, readHoldout } from './holdout';
import { KEPT, type RowFacts } from './holdout-plan';
import { chooseHoldout, readSeed } from './row-plan';
import type { Fitting } from './run-fit';
import { chooseTestRows, keepDigests, type KnownRows, SEEN, UNSEEN, usualRows, whichSeen } from './test-rows';
import {
  fitAlone,
  fitAndKeep,
  fitWork,
  isTaskFound,
  keepKnown,
  makeFitting,
  makeSetRequest,
  mayBeThere,
  train,
} from './train';
import { encodeTrainTable, readTrainTable, type TrainSet, type TrainTable } from './train-set';

/**
 * Fits a model that takes over from the one in charge, the champion, only if it proves better: the challenger is fitted
 * without the newest rows, and both are scored on those that are new to the champion. The model that takes over is fitted
 * on all rows. Fits under one name run one after the other.
 */
export function fitIfBetter(work: Work, request: TrainRequest, underWay: FitUnderWay): Promise<TrainResult> {
  return work.cards.fits.inTurn(request.model, async () => {
    work.signal?.throwIfAborted();
    const result =
      request.trainSetUploadId === undefined
        ? await fitTable(work, request, underWay)
        : await fitUploaded(work, request, underWay);
    return result.aside === undefined || result.challenger?.taken !== true
      ? result
      : { ...result, challenger: { ...result.challenger, ...LATE } };
  });
}

/** Rows that were uploaded earlier are not available for a comparison. */
async function fitUploaded(work: Work, request: TrainRequest, underWay: FitUnderWay): Promise<TrainResult> {
  const why = findChampion(work, request) === undefined ? firstOrGone(work, request) : ROWS_UNKNOWN;
  if (why === ROWS_UNKNOWN) {
    work.onWarning?.(
      'The new model takes over without a comparison, since its train set was uploaded before: give the table to the fit node for that.',
    );
  }
  const result = await train(fitWork(work, underWay), request);
  return { ...result, challenger: result.reused ? UNCHANGED : why };
}

async function fitTable(work: Work, request: TrainRequest, underWay: FitUnderWay): Promise<TrainResult> {
  const table = await readTrainTable(work, makeSetRequest(work, request));
  const plan = table.facts && (await chooseHoldout(table.facts, table.request, work));
  const set = await encodeTrainTable(table, plan, work);
  try {
    const fitting = makeFitting(work, request, { set });
    let champion = findChampion(work, request);
    const same = champion && unchanged(work, fitting);
    if (same !== undefined && !(await mayBeThere(work, same.fitted_train_set_id))) {
      champion = findChampion(work, request);
    } else if (same !== undefined) {
      // Other costs, or another threshold, need no other fit.
      const isInCharge = same.fitted_train_set_id === champion!.fitted_train_set_id;
      const known = isInCharge ? await keepKnown(fitWork(work, underWay), fitting) : undefined;
      return kept(known?.card ?? champion!, request, UNCHANGED, true);
    }
    // Now, while the rows are those that were encoded.
    fitting.seen = await readSeenRows(table, plan, work.signal);
    const challenger =
      champion === undefined ? firstOrGone(work, request) : await compare(work, champion, { table, fitting });
    if (champion !== undefined && !challenger.taken) {
      // The model may have been rolled back or deleted in the meantime.
      return kept(findInCharge(work, request) ?? champion, request, challenger, false);
    }
    const compared = champion && comparison(champion, challenger);
    return { ...(await takeOver(work, fitting, { challenger, compared }, underWay)), challenger };
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

/** Fits all rows. */
async function takeOver(
  work: Work,
  fitting: Fitting,
  { challenger, compared }: { challenger: Challenger; compared: VersionComparison | undefined },
  underWay: FitUnderWay,
): Promise<TrainResult> {
  const why = versionReason(challenger);
  const put: FitUnderWay['done'] = (card, fingerprint) =>
    underWay.done(compared === undefined ? card : { ...card, compared }, fingerprint, why);
  // Another name may have got a model of these very rows by now.
  return fitAndKeep({ ...work, put, goesOn: underWay.goesOn }, fitting);
}

/** Kept with the version, because the scores of its fit come from other rows than those of the version before. */
function comparison({ version }: ModelCard, { scores }: Challenger): VersionComparison | undefined {
  if (scores === undefined) {
    return undefined;
  }
  const { loss, rows, standard_error, champion, challenger } = scores;
  return { with: version, loss, rows, before: champion, own: challenger, standard_error };
}

function versionReason({ why }: Challenger): VersionReason | undefined {
  return why === 'better' || why === 'decayed' ? why : undefined;
}

/** The model stays in charge. */
function kept(
  champion: ModelCard,
  request: TrainRequest,
  challenger: Challenger,
  reused: boolean,
): TrainResult {
  return { card: structuredClone(champion), challenger, reused, taskFound: isTaskFound(request) };
}

/** The model in charge of the very name, whether the service still has it or not. */
function findInCharge({ cards }: Context, { model }: TrainRequest): ModelCard | undefined {
  const named = cards.named(model);
  return named?.name === model ? named.card() : undefined;
}

/** The model in charge of the very name, unless the service was found not to have it. */
function findChampion({ cards }: Context, { model }: TrainRequest): ModelCard | undefined {
  const card = cards.get(model);
  return card?.name === model ? card : undefined;
}

function firstOrGone({ cards }: Context, { model }: TrainRequest): Challenger {
  return cards.named(model)?.name === model ? gone({ name: model }) : FIRST;
}

/** The version of the name of the same train set and options. */
function unchanged({ cards }: Context, { request, fingerprint }: Fitting): ModelCard | undefined {
  const isForced = request.forceRefit === true || request.forceReupload === true;
  const known =
    fingerprint === undefined || isForced ? undefined : cards.byFingerprint(fingerprint, request.model);
  return known?.card.name === request.model ? known.card : undefined;
}

/** If the two cannot be compared, a new model takes over when it has this many times the champion's rows. */
const GROWN = 1.5;

/**
 * Per row of a table, whether the champion was fitted on it: by time if a column has it, else by the digests kept of its
 * rows. Undefined if neither is known.
 *
 * @throws ServiceError `table.invalid` where its columns cannot be read as the champion's
 */
async function championRows(
  context: Context,
  champion: ModelCard,
  table: TrainTable,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const facts = table.facts!;
  const { times, timeColumn } = facts;
  const until = Date.parse(champion.trained_until ?? '');
  if (times !== undefined && timeColumn !== undefined && !Number.isNaN(until)) {
    const newest = times.reduce((max, time) => (time > max ? time : max), -Infinity);
    const own = await untilOfGroups(context, champion, facts);
    const last = columnTime(timeColumn, until, newest);
    const lastOfGroup = own?.map((time) => columnTime(timeColumn, time, newest));
    // Rows without a time count as seen.
    return Uint8Array.from(times, (time, row) =>
      time > (lastOfGroup?.[facts.groups![row]!] ?? last) ? UNSEEN : SEEN,
    );
  }
  const reference = await context.cards.references.get(champion.fitted_train_set_id);
  return reference?.seen && whichSeen(reference.seen, await digestsFor(champion, table, signal));
}

/**
 * Until when the champion was fitted on the rows of each group, by its number; a group that it does not know is new to it.
 * Undefined where that is not known.
 */
async function untilOfGroups(
  { cards }: Context,
  champion: ModelCard,
  { groups, groupLabels }: RowFacts,
): Promise<number[] | undefined> {
  if (groups === undefined || groupLabels === undefined || champion.group === undefined) {
    return undefined;
  }
  const reference = await cards.references.get(champion.fitted_train_set_id);
  const until = reference?.until && new Map(reference.until.map(({ key, to }) => [key, to]));
  return until && groupLabels.map((label) => until.get(String(label)) ?? -Infinity);
}

/** What identifies the rows that a model of this table is fitted on. @param plan how each row is used, if some are held back */
async function readSeenRows(
  table: TrainTable,
  plan: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<SeenRows> {
  const digests = await digestsFor({ columns: table.features }, table, signal);
  return keepDigests(plan === undefined ? digests : digests.filter((_, row) => plan[row] === KEPT));
}

/** Whether a table has all columns of a model. */
function hasColumns({ columns }: Pick<ModelCard, 'columns'>, { names }: TableSource): boolean {
  const known = new Set(names);
  return columns.length > 0 && columns.every(({ name }) => known.has(name));
}

/** Digests of the rows of a table, as a model of these columns knows them. */
function digestsFor(
  { columns }: Pick<FittedModel, 'columns'>,
  { source, profile, request, facts }: TrainTable,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const target = profile.columns.find(({ name }) => name === request.target)!;
  return digestRows(source, { features: columns, target }, facts!, signal);
}

/** What would be fitted. */
interface Candidate {
  table: TrainTable;
  fitting: Fitting;
}

/** What one model says of each row: see `Answers`. */
type OwnAnswers = Answers['champion'];

/**
 * Decides whether a new model takes over from the champion: a challenger is fitted without the newest rows, and both are
 * scored on those.
 */
async function compare(work: Work, champion: ModelCard, { table, fitting }: Candidate): Promise<Challenger> {
  const { request, facts } = table;
  if (champion.target !== request.target || champion.task !== request.task) {
    return otherTarget(champion);
  }
  if (!hasColumns(champion, table.source)) {
    const names = new Set(table.source.names);
    const missing = champion.columns.find(({ name }) => !names.has(name));
    return otherColumns(missing === undefined ? 'its columns are not known.' : `it lacks "${missing.name}".`);
  }
  let seen: Uint8Array | undefined;
  try {
    seen = await championRows(work, champion, table, work.signal);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (isUnreadable(error)) {
      return otherColumns(error.message);
    }
    throw thrown;
  }
  if (seen === undefined) {
    return ROWS_UNKNOWN;
  }
  const isDecayed = fitting.request.decayed === true;
  const chosen = await chooseTestRows(facts!, {
    seen,
    embargo: request.embargo ?? 0,
    seed: readSeed(request.options),
    isDecayed,
  });
  if ('tooFew' in chosen) {
    const isGrown = facts!.rows >= GROWN * champion.rows;
    return isDecayed ? decayedUncompared(chosen.tooFew) : (isGrown ? muchGrown : tooFew)(chosen.tooFew);
  }
  const both = await answersOfBoth(work, champion, { table, fitting }, chosen.plan);
  if ('taken' in both) {
    return both;
  }
  const { answers, holdout } = both;
  const reference = await work.cards.references.get(champion.fitted_train_set_id);
  const rows = await unusualRows(champion, table, { holdout, known: { reference, seen } }, work);
  const decision = decide(answers, { decayed: isDecayed, promised: promisedBy(champion) }, rows);
  await notePutOff(work, { id: champion.fitted_train_set_id, reference }, decision, rows);
  return compared(decision, rows?.usual);
}

/** Which of the compared rows are unusual; undefined if none are, or if rows have no order. */
async function unusualRows(
  champion: ModelCard,
  table: TrainTable,
  { holdout, known }: { holdout: Holdout; known: KnownRows },
  { signal }: Hooks,
): Promise<(RowsInTime & { digests: Float64Array }) | undefined> {
  if (table.facts!.order !== 'time') {
    return undefined;
  }
  const usual = await usualRows({ ...holdout, features: table.features }, known, table.facts!);
  if (!usual.includes(0)) {
    return undefined;
  }
  const digests = await digestsFor(champion, table, signal);
  const later = await laterRows(known.reference?.putOff, digests, holdout.numbers);
  return { usual, digests, ...(later !== undefined && { later }) };
}

function promisedBy({ scores }: ModelCard): number | undefined {
  return scores?.log_loss ?? scores?.pinball;
}

/** The predictions of both and their rows; or the decision without them, if the champion cannot answer. */
async function answersOfBoth(
  work: Work,
  champion: ModelCard,
  { table, fitting }: Candidate,
  plan: Uint8Array,
): Promise<{ answers: Answers; holdout: Holdout } | Challenger> {
  // What is to be said of the rows is said by the fit that follows.
  const quiet: Work = { ...work, onWarning: () => undefined };
  const set = await encodeTrainTable(table, plan, quiet);
  try {
    const holdout = set.holdout!;
    await announceCost(work, champion, holdout);
    // The champion first: if it is gone, there is nothing to compare.
    const own = await championAnswers(quiet, champion, table, plan);
    if ('taken' in own) {
      return own;
    }
    const other = await challengerAnswers(quiet, fitting, set, holdout);
    return { answers: pairAnswers(holdout, own, other), holdout };
  } finally {
    await Promise.all([set.x.dispose(), set.y.dispose()]);
  }
}

/**
 * Fits the challenger and asks it to predict. Its id is on disk as removable before it exists, so that a killed process
 * leaves nothing of it behind.
 */
async function challengerAnswers(
  work: Work,
  fitting: Fitting,
  set: TrainSet,
  holdout: Holdout,
): Promise<OwnAnswers> {
  const { cards } = work;
  const held: (() => void)[] = [];
  const note = (fitted: string, upload: string): Promise<void> => {
    held.push(cards.hold(fitted));
    return cards.discard({ fitted, upload });
  };
  try {
    const alone = makeFitting(work, { ...fitting.request, forceReupload: undefined }, { set });
    const challenger = await fitAlone(work, alone, (upload) => note(upload, upload));
    await note(challenger.fitted_train_set_id, challenger.train_set_upload_id);
    return await fetchAnswers(work, challenger, holdout);
  } finally {
    held.forEach((release) => release());
  }
}

/** The champion reads the same rows by its own columns. */
async function championAnswers(
  work: Work,
  champion: ModelCard,
  { source, profile, request, facts }: TrainTable,
  plan: Uint8Array,
): Promise<OwnAnswers | Challenger> {
  const columns = { columns: profile.columns, target: request.target, features: champion.columns };
  const release = work.cards.hold(champion.fitted_train_set_id);
  try {
    const holdout = await readHoldout(source, columns, { facts: facts!, plan }, work.signal);
    return await fetchAnswers(work, champion, holdout);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (error.code === 'model.unknown') {
      return gone(champion);
    }
    if (isUnreadable(error)) {
      return otherColumns(error.message);
    }
    throw thrown;
  } finally {
    release();
  }
}

async function fetchAnswers(work: Work, model: FittedModel, holdout: Holdout): Promise<OwnAnswers> {
  work.onStatus?.({ key: 'predicting' });
  return holdout.truth.task === 'classification'
    ? readChances(await askRows(work, model, holdout, 'probas'), holdout.truth, model.classes)
    : quantilesIn(await askRows(work, model, holdout, 'quantiles'));
}

function pairAnswers({ truth }: Holdout, champion: OwnAnswers, challenger: OwnAnswers): Answers {
  return truth.task === 'classification'
    ? ({ task: truth.task, classes: truth.classes.length, champion, challenger } as Answers)
    : ({ task: truth.task, actual: truth.held, champion, challenger } as Answers);
}

/** The table cannot be read the way the champion read its own. */
function isUnreadable({ code }: ServiceError): boolean {
  return code === 'table.invalid' || code === 'columns.missing';
}

/** One warning says what a comparison costs if the service charges for it. */
async function announceCost(work: Work, champion: ModelCard, { rows, kept }: Holdout): Promise<void> {
  if (!work.service.isMetered) {
    return;
  }
  const what = `Comparing the new model with the one in charge takes one more fit and two predicts of ${rows} rows`;
  try {
    const limits = await work.service.limits.forChecks(work.signal);
    const request = predictToEstimate(limits, champion, { train: kept, test: rows });
    const cost = 2 * (await work.service.costs.estimate(request, work.signal));
    if (cost > 0) {
      work.onWarning?.(
        `${what}, which are estimated to cost ${cost}. To do without, set Replace the model to always.`,
      );
    }
  } catch (thrown) {
    work.signal?.throwIfAborted();
    work.onWarning?.(
      `${what}; what they cost could not be found out (${toServiceError(thrown).message}). To do without, set Replace the model to always.`,
    );
  }
}
