/**
 * Which learner made a model. Raised whenever the same table, options and seed give another model than before, so that
 * whoever keeps models can tell an older learner's answer from that of this one.
 */
export const LEARNER_VERSION = 1;
