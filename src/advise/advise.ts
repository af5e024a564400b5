import { randomUUID } from 'node:crypto';

import { type Connection, type Hooks, type ModelCard, Predictor, type PredictOutcome } from '../connection';
import { checkByRules } from '../connection/checks';
import { checkedCard, cleanedColumns, unknownModel } from '../models/model-request';
import type { PredictRequest } from '../models/types';
import type { Unlike } from '../predict/unlike';
import type { Setting } from '../settings/kinds';
import { ADVISE } from '../settings/nodes';
import { type Cell, cellAt, type Label, openTable, plainNames } from '../table';
import { Yielder } from '../util/concurrency';
import { seededRandom } from '../util/random';
import { ServiceError, toServiceError } from '../wire/service-error';
import { learnCourses, restsOn } from './follow';
import { type Goal, readGoal } from './goal';
import { type Knob, type KnobValues, makeKnobs } from './knobs';
import { asGood, type Ask, choose, mostAlike, promising, search, searchRounds } from './search';
import { adviceText, type AdviceWords, ENGLISH } from './text';
import type { Advice, Advised, Candidate, CandidateAnswer, Question } from './types';

/** A question about one row. */
export interface AdviseRequest
  extends Question, Pick<PredictRequest, 'missingColumns' | 'missingWords' | 'unreadable' | 'timezone'> {
  /** The row as it is now: any form of a table with one row. */
  row: unknown;
  /** A known name, or a card. */
  model: string | ModelCard;
  /** Highest estimated cost of the whole question, in tokens; 0: no bound. */
  maxCost?: number;
}

export interface AdviceOutcome {
  advice: Advice;
  /** The row as it is advised, or as it is where nothing is advised, with its prediction under `prediction`. */
  row: Record<string, unknown>;
  modelName: string;
  predictedBy: PredictOutcome['predictedBy'];
}

const ASKING: Partial<Record<keyof AdviseRequest, Setting>> = {
  vary: ADVISE.vary,
  follow: ADVISE.follow,
  goal: ADVISE.goal,
  sure: ADVISE.sure,
  candidates: ADVISE.candidates,
  maxCost: ADVISE.maxCost,
  missingColumns: ADVISE.missingColumns,
  missingWords: ADVISE.missingWords,
  unreadable: ADVISE.unreadable,
  timezone: ADVISE.timezone,
};

/** What a program asks; a node has read its fields before. @throws ServiceError `validation.failed` */
export function checkQuestion(request: AdviseRequest): void {
  // What must be said is looked at too where it is left out.
  checkByRules('advise', ASKING, { ...request, vary: request.vary ?? [], goal: request.goal ?? '' });
}

/** What a question asks of a service that may charge for it. */
export interface Price {
  /** Predictions, and in how many predicts. */
  rows: number;
  predicts: number;
  /** In tokens, estimated; undefined where the service does not say. */
  cost: number | undefined;
}

interface Asked {
  request: AdviseRequest;
  card: ModelCard;
  goal: Goal;
  hooks: Hooks;
}

const PREDICTED = 'prediction';
const LEAST_CANDIDATES = 10;
/** Other settings that are told, and how far they are apart, in parts of the ranges. */
const OTHERS = 3;
const APART = 0.1;

/** Answers which setting to change, and by how much, with the models of one service. */
export class Advisor {
  private isTold = false;

  /** @param predictor predicts for it; the bound of the cost is that of the question */
  constructor(
    private readonly connection: Connection,
    private readonly predictor: Predictor,
    private readonly words: AdviceWords = ENGLISH,
  ) {}

  /**
   * Which of the columns that may be changed to set to what, so that the model expects the goal: the cheapest way on
   * known ground. One predict for each round of the search.
   *
   * @throws ServiceError `config.invalid`, `validation.failed`, `columns.missing` for a question that this model and
   *   row have no answer to; `model.unknown`; `cost.exceeded`; those of a predict
   */
  async advise(request: AdviseRequest, hooks: Hooks = {}): Promise<AdviceOutcome> {
    const card = await this.findCard(request.model);
    // A fit may replace the model between two rounds: the service keeps it until then.
    const release = this.connection.cards.hold(card.fitted_train_set_id);
    try {
      return await this.answer({ request, card, goal: readGoal(request, card), hooks });
    } finally {
      release();
    }
  }

  private async findCard(model: string | ModelCard): Promise<ModelCard> {
    const { cards } = this.connection;
    if (typeof model === 'object') {
      return checkedCard(model);
    }
    if (cards.get(model) === undefined) {
      await cards.fits.end(model);
    }
    const card = cards.get(model);
    if (card === undefined) {
      throw unknownModel(model, cards);
    }
    return card;
  }

  private async answer(asked: Asked): Promise<AdviceOutcome> {
    const { request, card, goal, hooks } = asked;
    const reference = await this.connection.cards.references.get(card.fitted_train_set_id);
    if (reference === undefined || reference.rows.length === 0) {
      throw new ServiceError(
        'validation.failed',
        `Nothing of the train set of "${card.name}" is kept here, so it is not known what it covers: fit the model again, from a table.`,
      );
    }
    const { row, cell } = await readRow(request, card, hooks.signal);
    const knobs = makeKnobs(request.vary, reference.columns, reference.usual, cell);
    const courses = learnCourses(request.follow ?? [], knobs, reference, cell);
    const rounds = await this.affordable(asked);
    let outcome: PredictOutcome | undefined;
    let now: CandidateAnswer | undefined;
    const followsIn = (setting: KnobValues): Record<string, number> =>
      Object.fromEntries(courses.map((course) => [course.column, course.at(setting)]));
    const rowIn = (setting: KnobValues): Record<string, unknown> => ({
      ...row,
      ...Object.fromEntries(knobs.map(({ column }, at) => [column, setting[at]])),
      ...followsIn(setting),
    });
    const ask: Ask = async (settings) => {
      // The row as it is comes first of all: it may lie outside of the bounds, where no setting is.
      const rows = now === undefined ? [row] : [];
      const answers: CandidateAnswer[] = [];
      const yielder = new Yielder();
      let turn: Promise<void> | undefined;
      for (const setting of settings) {
        rows.push(rowIn(setting));
        if ((turn = yielder.due()) !== undefined) {
          await turn;
        }
      }
      outcome = await this.predict(asked, rows);
      for (const predicted of outcome.table as Record<string, unknown>[]) {
        answers.push(readAnswer(goal, predicted));
        if ((turn = yielder.due()) !== undefined) {
          await turn;
        }
      }
      now ??= answers.shift();
      return answers;
    };
    const isPriced = request.vary.some(({ price = 0 }) => price !== 0);
    const isDone = (): boolean => now!.expected.holds === true && !isPriced;
    const all = await search(knobs, ask, (found) => (isDone() ? [] : promising(found, goal.hasLimit)), {
      hasLimit: goal.hasLimit,
      rounds,
      random: seededRandom(request.seed ?? 1),
    });

    const { good: known, nearest, outside } = choose(all, goal.hasLimit);
    const good = goal.hasLimit ? known : asGood(known, now!.reach);
    const isGoodNow = goal.hasLimit ? now!.expected.holds === true : good.length === 0 && known.length > 0;
    const best = isGoodNow ? good.find(({ cost }) => goal.hasLimit && isPriced && cost < 0) : good[0];
    const advisedIn = (candidate: Candidate): Advised =>
      advised(knobs, candidate, followsIn(candidate.setting));
    const advice: Omit<Advice, 'text'> = {
      id: randomUUID(),
      set: isGoodNow ? {} : null,
      now: { ...now!.expected, unlike: now!.unlike.rank },
      ...(best !== undefined && {
        ...advisedIn(best),
        rests_on: restsOn(knobs, best.setting, reference, request.follow ?? []),
      }),
      others: best === undefined ? [] : apartFrom(best, goal.hasLimit ? good : known, knobs).map(advisedIn),
      ...(best === undefined &&
        !isGoodNow && {
          ...(nearest !== undefined && { nearest: advisedIn(nearest) }),
          ...(outside !== undefined && { outside: advisedIn(outside) }),
        }),
    };
    const about = {
      ...{
        target: card.target,
        label: goal.label,
        hasLimit: goal.hasLimit,
        likest: mostAlike(all),
        unlikeNow: now!.unlike,
      },
      missing: card.columns.filter(({ name }) => cell(name) === null).map(({ name }) => name),
    };
    return {
      advice: { ...advice, text: adviceText(advice, about, this.words) },
      row: { ...(best === undefined ? row : rowIn(best.setting)), ...(best ?? now!).attached },
      modelName: outcome!.modelName,
      predictedBy: outcome!.predictedBy,
    };
  }

  private predict({ request, card, goal, hooks }: Asked, rows: readonly object[]): Promise<PredictOutcome> {
    const { missingColumns, missingWords, unreadable, timezone } = request;
    return this.predictor.predict(
      {
        missingColumns,
        missingWords,
        unreadable,
        timezone,
        ...goal.asks,
        table: { value: rows },
        model: card,
        property: PREDICTED,
        unlike: true,
      },
      hooks,
    );
  }

  /** What a question costs; undefined where the service charges nothing. @throws ServiceError as a question does */
  async price(request: AdviseRequest, hooks: Hooks = {}): Promise<Price | undefined> {
    if (!this.connection.service.isMetered) {
      return undefined;
    }
    const card = await this.findCard(request.model);
    const asked = { request, card, goal: readGoal(request, card), hooks };
    return this.estimatePrice(asked, await this.planRounds(asked));
  }

  /** The rows of each round, as many as one predict takes. */
  private async planRounds({ request, card, goal, hooks }: Asked): Promise<number[]> {
    const most = await this.connection.rowsAtOnce(card, goal.asks.outputType!, hooks);
    // The row as it is goes with the first.
    return searchRounds(Math.max(LEAST_CANDIDATES, request.candidates ?? 2_000)).map((rows) =>
      Math.max(1, Math.min(rows, most - 1)),
    );
  }

  /** The rounds, after what they cost has been told before the first question. @throws ServiceError `cost.exceeded` */
  private async affordable(asked: Asked): Promise<number[]> {
    const { maxCost = 0 } = asked.request;
    const rounds = await this.planRounds(asked);
    if (!this.connection.service.isMetered || (maxCost === 0 && this.isTold)) {
      return rounds;
    }
    const { rows, predicts, cost } = await this.estimatePrice(asked, rounds);
    if (maxCost > 0 && cost! > maxCost) {
      throw new ServiceError(
        'cost.exceeded',
        `A question asks for ${rows} predictions, which are estimated to cost ${cost}, more than the ${maxCost} allowed: nothing was sent. Ask about fewer candidates, or raise the highest cost.`,
      );
    }
    if (!this.isTold) {
      this.isTold = true;
      const price =
        cost === undefined ? 'at a cost that could not be found out' : `estimated to cost ${cost}`;
      asked.hooks.onWarning?.(
        `Each question asks the service for ${rows} predictions in ${predicts} predicts, ${price}.`,
      );
    }
    return rounds;
  }

  /** A cost that cannot be found out stops only a question that has a bound. */
  private async estimatePrice({ request, card, hooks }: Asked, rounds: readonly number[]): Promise<Price> {
    const cost = await this.estimateCost(card, rounds, hooks).catch((thrown: unknown) => {
      const error = toServiceError(thrown);
      if ((request.maxCost ?? 0) > 0 || error.code === 'closed') {
        throw error;
      }
      return undefined;
    });
    return { rows: rounds.reduce((sum, one) => sum + one, 1), predicts: rounds.length, cost };
  }

  private async estimateCost(model: ModelCard, rounds: readonly number[], hooks: Hooks): Promise<number> {
    let sum = 0;
    for (const [round, rows] of rounds.entries()) {
      const testRows = round === 0 ? rows + 1 : rows;
      sum += await this.connection.estimateCost({ operation: 'predict', model, testRows }, hooks);
    }
    return sum;
  }
}

/** The row as its message has it, and its cells as the model reads them. @throws ServiceError `table.invalid` … */
async function readRow(
  request: AdviseRequest,
  { columns }: ModelCard,
  signal: AbortSignal | undefined,
): Promise<{ row: Record<string, unknown>; cell: (column: string) => Label | null }> {
  const source = await openTable(request.row, { signal });
  const rows = await source.readRows(signal);
  if (rows.length !== 1) {
    throw new ServiceError(
      'validation.failed',
      rows.length === 0
        ? 'A question is about one row, as it is now, and this table has none: send an object of columns and values.'
        : `A question is about one row, as it is now, and this table has ${rows.length}: send them one by one.`,
    );
  }
  const cells = new Map<string, Cell>();
  const { missingColumns } = request;
  const wanted = cleanedColumns(columns, request);
  for await (const batch of source.batches(wanted, { missingColumns, signal })) {
    columns.forEach(({ name }, at) => cells.set(name, cellAt(batch.columns[at]!, 0)));
  }
  const keys = Object.keys(rows[0]!);
  const keyOf = new Map(plainNames(keys).map((name, at) => [name, keys[at]!]));
  const named = columns.filter(({ name }) => keyOf.has(name));
  return {
    row: Object.fromEntries(named.map(({ name }) => [name, rows[0]![keyOf.get(name)!]])),
    cell: (column) => {
      const value = cells.get(column) ?? null;
      return typeof value === 'bigint' || value instanceof Date ? String(value) : value;
    },
  };
}

function readAnswer(goal: Goal, predicted: Readonly<Record<string, unknown>>): CandidateAnswer {
  const names = [PREDICTED, `${PREDICTED}_probabilities`].filter((name) => predicted[name] !== undefined);
  return {
    ...goal.read(predicted, PREDICTED),
    unlike: predicted[`${PREDICTED}_unlike`] as Unlike,
    attached: Object.fromEntries(names.map((name) => [name, predicted[name]])),
  };
}

function advised(knobs: readonly Knob[], candidate: Candidate, follows: Record<string, number>): Advised {
  const changes = knobs.flatMap(({ column, now }, at) => {
    const to = candidate.setting[at]!;
    const by = typeof to === 'number' ? Number((to - (now as number)).toPrecision(12)) : undefined;
    return to === now ? [] : [{ column, from: now, to, ...(by !== undefined && { by }) }];
  });
  return {
    set: Object.fromEntries(changes.map(({ column, to }) => [column, to])),
    changes,
    ...(Object.keys(follows).length > 0 && { follows }),
    then: candidate.expected,
    cost: Number(candidate.cost.toPrecision(12)),
    unlike: candidate.unlike.rank,
  };
}

/** The next best ones, each some way from the ones before. */
function apartFrom(best: Candidate, good: readonly Candidate[], knobs: readonly Knob[]): Candidate[] {
  const taken = [best];
  for (const one of good) {
    const isApart = taken.every(
      ({ setting }) =>
        knobs.reduce((sum, knob, at) => sum + knob.apart(one.setting[at]!, setting[at]!), 0) >= APART,
    );
    if (isApart && taken.length <= OTHERS) {
      taken.push(one);
    }
  }
  return taken.slice(1);
}
