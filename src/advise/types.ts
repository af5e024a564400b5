import type { Unlike } from '../predict/unlike';
import type { VaryColumn } from '../settings/vary';
import type { Label } from '../table';
import type { KnobValues } from './knobs';

type GoalWord = 'highest' | 'lowest' | 'at least' | 'at most';

/** What is asked. */
export interface Question {
  vary: readonly VaryColumn[];
  goal: GoalWord;
  /** Of numbers with `at least` and `at most`: the limit. Of classes: the label that the goal is about. */
  value?: number | string | boolean;
  /** The probability that must hold the goal, 0.5 to 0.99. Default 0.9. */
  sure?: number;
  /** Rows that are predicted for an answer. Default 2,000. */
  candidates?: number;
  /** Columns that follow those that are changed, and go along with them as they did in the train set. */
  follow?: readonly string[];
  /** Other numbers look at other candidates. Default 1. */
  seed?: number;
}

/** What the model says of a row. */
export interface Expected {
  /** The median, or the label that is answered. */
  value: number | Label | null;
  /** Of numbers: the quantiles at 1 − `sure` and `sure`. */
  low?: number;
  high?: number;
  /** Of classes: that of the label that the goal is about. */
  probability?: number;
  /** Whether the goal holds; left out of `highest` and `lowest`, which have no limit. */
  holds?: boolean;
}

interface SettingChange {
  column: string;
  from: Label;
  to: Label;
  /** In units of the column; left out of words. */
  by?: number;
}

/** A setting that was found. */
export interface Advised {
  /** The columns to set, each with its value; those that stay are left out. */
  set: Record<string, Label>;
  changes: SettingChange[];
  /** What the columns that follow are expected to become. */
  follows?: Record<string, number>;
  then: Expected;
  cost: number;
  /** 0 to 1: see `Unlike`. */
  unlike: number;
}

/** What the answer rests on. */
export interface RestsOn {
  /** Kept rows of the train set in which every changed column is near the advised value, and of how many. */
  rows: number;
  of: number;
  /**
   * Columns that stand still here, and in the train set went along with one that is changed: it may be they that did it,
   * or they will change as well. `part` is the part of the column's variance that the changed ones tell.
   */
  together: { column: string; with: string[]; part: number }[];
}

/** `msg.advice` */
export interface Advice extends Partial<Omit<Advised, 'set'>> {
  id: string;
  /** Null where nothing reaches the goal on known ground; empty where there is nothing to change. */
  set: Record<string, Label> | null;
  /** The same as a sentence. */
  text: string;
  now: Expected & { unlike: number };
  /** Up to three other settings that do as well, the cheapest first; where there is none, empty. */
  others: Advised[];
  rests_on?: RestsOn;
  /** Where nothing reaches the goal: what comes nearest to it on known ground. */
  nearest?: Advised;
  /** Where the goal is only reached by settings that the train set knows nothing of: the one most like it. */
  outside?: Advised;
}

/** What a batched predict says of a candidate. */
export interface CandidateAnswer {
  expected: Expected;
  /** How far it is beyond the goal, or how good it is; NaN where there is no prediction. */
  reach: number;
  unlike: Unlike;
  /** What predict attached to the row. */
  attached: Record<string, unknown>;
}

/** A setting with what it costs and what the model says of it. */
export interface Candidate extends CandidateAnswer {
  setting: KnobValues;
  cost: number;
  /** How much is changed: the sum over the knobs, in parts of their ranges. */
  size: number;
}
