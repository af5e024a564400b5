export type { VaryColumn } from '../settings/vary';
export { type AdviseRequest, Advisor, checkQuestion, type Price } from './advise';
export { type AdviceWords, ENGLISH } from './text';
export type { Advice, Advised } from './types';
