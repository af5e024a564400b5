import type { Context, Work } from '../context/context';
import type { FitUnderWay } from '../models/shared-cards';
import { fitSet, type Fitting, fittingOf } from '../train/fit-set';
import { chooseHoldout } from '../train/row-plan';
import { isTaskFound, keepFitted, keepKnown, setRequestOf, train } from '../train/train';
import { encodeTrainTable, readTrainTable } from '../train/train-set';
import type {
  Challenger,
  ModelCard,
  TrainRequest,
  TrainResult,
  VersionComparison,
  VersionReason,
} from '../types';
import { compare, seenRowsOf } from './compare';
import { FIRST, gone, LATE, ROWS_UNKNOWN, UNCHANGED } from './decision';

/**
 * Fits a model that takes over from the one in charge, the champion, only if it proves better: the challenger is fitted
 * without the newest rows, and both are scored on those that are new to the champion. The model that takes over is fitted
 * on all rows. Fits under one name run one after the other.
 */
export function fitIfBetter(work: Work, request: TrainRequest, underWay: FitUnderWay): Promise<TrainResult> {
  return work.cards.inTurn(request.model, async () => {
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
  const why = championOf(work, request) === undefined ? firstOrGone(work, request) : ROWS_UNKNOWN;
  if (why === ROWS_UNKNOWN) {
    work.onWarning?.(
      'The new model takes over without a comparison, since its train set was uploaded before: give the table to the fit node for that.',
    );
  }
  const result = await train(work, request, (...kept) => underWay.done(...kept));
  return { ...result, challenger: result.reused ? UNCHANGED : why };
}

async function fitTable(work: Work, request: TrainRequest, underWay: FitUnderWay): Promise<TrainResult> {
  const table = await readTrainTable(work, setRequestOf(work, request));
  const plan = table.facts && (await chooseHoldout(table.facts, table.request, work));
  const set = await encodeTrainTable(table, plan, work);
  try {
    const fitting = fittingOf(work, request, set.card, set);
    const champion = championOf(work, request);
    const same = champion && unchanged(work, fitting);
    if (same !== undefined) {
      // Other costs, or another threshold, need no other fit.
      const put: FitUnderWay['done'] = (...model) => underWay.done(...model);
      const isInCharge = same.fitted_train_set_id === champion!.fitted_train_set_id;
      const known = isInCharge ? await keepKnown(work, fitting, put) : undefined;
      return kept(known?.card ?? champion!, request, UNCHANGED, true);
    }
    // Now, while the rows are those that were encoded.
    fitting.seen = await seenRowsOf(table, plan, work.signal);
    const challenger =
      champion === undefined ? firstOrGone(work, request) : await compare(work, champion, { table, fitting });
    if (champion !== undefined && !challenger.taken) {
      // The model may have been rolled back or deleted in the meantime.
      return kept(inChargeOf(work, request) ?? champion, request, challenger, false);
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
  const known = await keepKnown(work, fitting, put);
  if (known !== undefined) {
    return known;
  }
  const fitted = await fitSet(work, fitting);
  return keepFitted(work, fitting, fitted, put);
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
function inChargeOf({ cards }: Context, { model }: TrainRequest): ModelCard | undefined {
  const named = cards.named(model);
  return named?.name === model ? named.card() : undefined;
}

/** The model in charge of the very name, unless the service was found not to have it. */
function championOf({ cards }: Context, { model }: TrainRequest): ModelCard | undefined {
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
