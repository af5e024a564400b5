export type { VaryColumn } from '../settings/kinds';
export { type AdviceOutcome, type AdviseRequest, Advisor, checkQuestion } from './advise';
export type { AdviceKey, AdviceWords } from './text';
export type { Advice, Advised, Expected, GoalWord, Question, RestsOn, SettingChange } from './types';
