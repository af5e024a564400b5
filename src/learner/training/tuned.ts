/*
 * What was tuned in training, in one table: on what each value was chosen, and where that is measured again. "Tables" are the
 * bench `npm run bench -- many`; headings are those of docs/benchmarks/many-tables.md unless a file is named. A value without a
 * measurement says so.
 */

/**
 * Sizes of tables, in rows. `small`: ten folds and small trees below. `medium`: five folds, slower and smaller trees below,
 * three folds from here on (seven folds in place of ten lose 0.6 to 1.5 % on friedman, two in place of three 0.2 to 5 %:
 * learner.md and fit-times.md, "What we tried").
 */
export const SIZES = { small: 2000, medium: 20_000 };

/**
 * Above `rows` the candidates beside the first one learn from fewer rows the more there are (60,000 × √(60,000 / rows)), and
 * are left out where they would learn from less than `share` of them; the further iterations of the first one become fewer
 * too. Chosen on seven generated tables at 34,000 to 100,000 train rows: "Tables of 60,000 rows and more". With more than
 * `cells` they are left out as well: the linear model keeps all numbers, and 10 million cells would take 51 bytes each, more
 * than the service reckons with (test/large/service-memory.test.ts).
 */
export const LARGE = { rows: 60_000, share: 0.1, cells: 5e6 };

/**
 * From this many classes on, one tree serves all of them, and there are neither randomised trees nor those for little noise:
 * their time, learner.md, "Many classes, many columns".
 */
export const MANY_CLASSES = 12;

/**
 * Work of a fit, in histogram updates: some tens of seconds of one core ("Many classes, many columns" of learner.md has a table
 * that it cuts). Updates a second that a timeout of thinking assumes: a desktop computer is several times faster. Iterations that every fold should afford, and scores in memory (rows × classes): not measured apart.
 */
export const WORK = {
  usual: 8e9,
  perSecond: 1e8,
  iterations: 150,
  scores: 4e7,
};

/** Times as many estimators: "Thinking" of learner.md. */
export const THINKING = { medium: 2, high: 3 };

/**
 * The first boosted candidate, by size. Learning rates, patience and rows per tree: "Small fits" and "Large fits" of
 * fit-times.md, "Rejected" (0.1 below 2,000 rows: 0.3 % worse; 30 % of the rows per tree: +1.2 to +3.6 %). `most` iterations
 * where the loss goes on falling: "7,000 to 54,000 rows, without a cap".
 */
export const BOOSTING = {
  learningRate: { medium: 0.06, large: 0.1 },
  patience: { medium: 40, large: 25 },
  iterations: { small: 600, others: 500, most: 1500 },
  /** Of many rows × classes: fewer rows a tree. */
  rowSample: { usual: 0.8, large: 0.5, from: 50_000 },
  columnSample: { small: 0.8, others: 0.5 },
  leaves: { small: 10, medium: 16, large: 31 },
  depth: { small: 6, others: 12 },
};

/**
 * Trees for little noise grow where the first candidate explains so much of the trivial held-out loss: "What each candidate and
 * each rule is worth" (−0.5 to +0.4 % without the rule). Their own rules: "Targets with little noise", with the tables of what was rejected.
 * `ofLarge`: of numbers with more than `LARGE.rows`, where their work ends them after a few hundred iterations; fit-times.md, "Large fits".
 */
export const LOW_NOISE = {
  explained: { classes: 0.6, numbers: 0.7, ofLarge: 0.9 },
  work: 2e9,
  learningRate: 0.1,
  iterations: 1000,
  patience: 40,
  rowSample: 0.8,
  classes: { minImprovement: 0.0002, lambda: 0.1, minHessian: 0.02, maxLeaves: 16, maxDepth: 12 },
  numbers: { columnSample: 0.8, lambda: 0.3, minHessian: 1 },
  ofNumbers: { few: { maxLeaves: 8, maxDepth: 6 }, many: { maxLeaves: 16, maxDepth: 8 } },
};

/**
 * Extremely randomised trees. Up to `manyRows` a leaf may have a single row: "What each candidate and each rule is worth". With
 * more, two trees of each kind on a part have to leave at most `left` of the squared error, tried on `tried` rows (all of 60,000
 * × 20 took a quarter of a fit, and chose alike on the tables of `LARGE`) of at most `triedColumns` columns; then all columns up
 * to `columns` at each node, and at least `fewest` trees a fold: "7,000 to 54,000 rows, without a cap".
 */
export const RANDOMISED = {
  manyRows: 3000,
  single: { left: 0.93, trees: 2, tried: 20_000, triedColumns: 50, columns: 24, fewest: 15 },
  /** Nodes of a model, some megabytes; its trees up to `SIZES.small` rows, and beyond: not measured apart. */
  nodes: 300_000,
  trees: { small: 200, others: 120 },
  /** Trees grown for the weights alone, a power of 2, since votes of few trees are noisy: "Extra trees". */
  scored: 4,
  /**
   * From `rows` on, a few trees have to improve the held-out loss with this share in the score before all are grown: "What each
   * candidate and each rule is worth" (a trial of 1,000 to 8,000 rows takes as long as the trees that it spares).
   */
  trial: { rows: 8000, trees: 3, share: 0.25 },
};

/**
 * Stacking. Priors of equal shares, in rows: "What we tried on small classification tables", "Extra trees" and "Linear models" (1,
 * 6 and 12 rows −0.4 to +2.9 %; 10 rows for numbers, and more where few rows make most of the errors, else electricity +65 %). `costly`: the gain in log-loss that randomised trees have to bring, twice that of the squared error: "What each candidate
 * and each rule is worth". Smaller weights than `least` are dropped: not measured apart.
 */
export const STACKING = {
  prior: { log_loss: 3, squared_error: 10 },
  costly: 0.01,
  least: 0.03,
};

/**
 * Finer bins for classes with little noise: quick trees on up to `parts` held-out parts have to explain `explained` of the loss,
 * and to lose less by `errors` standard errors with the new borders: "Targets with little noise" (16 tables −7.2 %; without the trial four of
 * them are 2 to 7 % higher).
 */
export const FINER_BINS = {
  rows: 2500,
  borders: 100,
  iterations: 12,
  learningRate: 0.3,
  parts: 5,
  explained: 0.8,
  errors: 1,
};

/**
 * What preparing a fit and combining its folds take of its time, by its size, and the candidates of a fold, in runs of boosting:
 * measured on mixed columns of 300 to 100,000 rows on one thread (docs/benchmarks/fit-times.md, "Progress"). Of a run, half is
 * told after this share of its usual iterations.
 */
export const OF_FIT = {
  small: { before: 0.01, after: 0.1 },
  medium: { before: 0.04, after: 0.18 },
  large: { before: 0.13, after: 0.13 },
};
export const OF_FOLD = { linear: 0.5, randomised: 0.5, halfOfRun: 0.25 };
