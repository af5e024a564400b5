import type { Challenger, ModelCard } from '../types';
import type { Decision } from './decision';

/** What decides without a comparison. */
type Uncompared = Omit<Challenger, 'scores'>;

export const FIRST: Uncompared = { taken: true, why: 'first', text: 'It is the first model of its name.' };

export const UNCHANGED: Uncompared = {
  taken: false,
  why: 'unchanged',
  text: 'The train set and the options are the same as before: nothing was fitted.',
};

export function gone({ name }: Pick<ModelCard, 'name'>): Uncompared {
  return {
    taken: true,
    why: 'gone',
    text: `The service does not have the model "${name}" any more, which was in charge.`,
  };
}

export function otherTarget({ target, task }: Pick<ModelCard, 'target' | 'task'>): Uncompared {
  return {
    taken: true,
    why: 'other_target',
    text: `The model in charge is of another kind (${task} of "${target}"), so the two cannot be compared.`,
  };
}

export function otherColumns(problem: string): Uncompared {
  return {
    taken: true,
    why: 'other_columns',
    text: `The model in charge cannot be scored on this table: ${problem}`,
  };
}

export const LATE: Uncompared = {
  taken: false,
  why: 'late',
  text: 'Meanwhile the model was rolled back or fitted again, so the new one is kept but not in charge.',
};

export const ROWS_UNKNOWN: Uncompared = {
  taken: true,
  why: 'rows_unknown',
  text: 'It is not known which rows the model in charge was fitted on, so there are none to compare the two on.',
};

export function tooFew(problem: string): Uncompared {
  return {
    taken: false,
    why: 'too_few_rows',
    text: `The model in charge stays, since there are too few rows to compare the two on: ${problem}.`,
  };
}

export function muchGrown(problem: string): Uncompared {
  return {
    taken: true,
    why: 'grown',
    text: `There are too few rows to compare the two on (${problem}), and the train set is half as large again as that of the model in charge.`,
  };
}

export function decayedUncompared(problem: string): Uncompared {
  return {
    taken: true,
    why: 'decayed',
    text: `The model in charge has decayed, and there are too few rows to compare the two on: ${problem}.`,
  };
}

/** @param usual per row, 1 if its values are like those that the champion was fitted on */
export function compared({ why, scores }: Decision, usual?: Uint8Array): Challenger {
  const unusual = usual?.filter((one) => one === 0).length ?? 0;
  const name = scores.loss === 'log_loss' ? 'log loss' : 'pinball loss';
  const figures = `${name} ${digits(scores.challenger)} against ${digits(scores.champion)} of the model in charge, on ${scores.rows} rows that are new to both (lower is better, difference ${digits(scores.difference)}, standard error ${digits(scores.standard_error)})`;
  const text = {
    better: `The new model is better: ${figures}.`,
    decayed: `The model in charge has decayed, and the new one is better: ${figures}.`,
    not_better: `The new model is no better: ${figures}.`,
    label_noise: `${scores.loss === 'log_loss' ? 'The new model is better only in expecting wrong labels' : 'The new model is not surely better but for wrong outcomes'}, of which there seem to be many among the newest rows: ${figures}.`,
    unusual_rows: `The new model is better only on the rows (${unusual} of ${scores.rows}) whose values are far from all that the model in charge was fitted on, or stand still, as of a broken sensor: ${figures}. If the next one is better on what comes from now on, it takes over.`,
  }[why];
  return { taken: why === 'better' || why === 'decayed', why, text, scores };
}

function digits(value: number): string {
  return String(Number(value.toPrecision(3)));
}
