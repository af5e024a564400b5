/**
 * Version of the learner. It increases whenever the same table, options and seed give a different model, so that a
 * stored model can be distinguished from one that this learner would fit.
 */
export const LEARNER_VERSION = 37;
