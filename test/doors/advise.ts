/** What tests reach of src/advise: a file that moves there is renamed here, and nowhere else. */
export { learnCourses, partTold, restsOn } from '../../dist/src/advise/follow';
export { readGoal, surer } from '../../dist/src/advise/goal';
export { type Knob, type KnobValues, makeKnobs } from '../../dist/src/advise/knobs';
export {
  asGood,
  byCost,
  choose,
  haltonPoints,
  promising,
  search,
  searchRounds,
} from '../../dist/src/advise/search';
export { adviceText, type AdviceWords, ENGLISH } from '../../dist/src/advise/text';
export type { Candidate, CandidateAnswer } from '../../dist/src/advise/types';
