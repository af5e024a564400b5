/**
 * Version of the learner. Raised whenever the same table, options and seed give a different model, so that a kept model
 * can be told from one that this learner would fit.
 */
export const LEARNER_VERSION = 13;
