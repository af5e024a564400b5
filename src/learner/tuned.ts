/*
 * What was tuned, in one table: on what each value was chosen, and where that is measured again. "Tables" are the bench
 * `npm run bench -- many`; headings are those of docs/benchmarks/many-tables.md unless a file is named. A value without a
 * measurement says so. Rules of Gaussian processes themselves, and of explanations, stand with them, each with its source.
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
 * that it cuts). Updates a second that a timeout of thinking assumes: a desktop computer is several times faster. Iterations that every fold should afford,
 * scores in memory (rows × classes), and probabilities `watched` after an iteration, to see whether the loss still falls: not
 * measured apart.
 */
export const WORK = {
  usual: 8e9,
  perSecond: 1e8,
  iterations: 150,
  scores: 4e7,
  watched: 400_000,
};

/** Times as many estimators: "Thinking" of learner.md (three times as many: +0.4 %). */
export const THINKING = { medium: 1.5, high: 2 };

/**
 * The first boosted candidate, by size. Learning rates, patience and rows per tree: "Small fits" and "Large fits" of
 * fit-times.md, "Rejected" (0.1 below 2,000 rows: 0.3 % worse; 30 % of the rows per tree: +1.2 to +3.6 %). `most` iterations
 * where the loss goes on falling by `longGain` of the lowest in `patience` of them: "7,000 to 54,000 rows, without a cap".
 */
export const BOOSTING = {
  learningRate: { medium: 0.06, large: 0.1 },
  patience: { medium: 40, large: 25 },
  iterations: { small: 600, others: 500, most: 1500 },
  longGain: 0.002,
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
 *
 * Up to `rowsApart` rows a loss is told by weights, iterations, penalties and a calibration that have not seen the row: of 60 to 300
 * rows of generated classes and numbers what is told rises by 1 to 5 %, of 2,000 by 0.2 % ("Weights that have seen the row", told.md).
 *
 * Of numbers, an error larger than `mostOff` times the one that `usualPart` of the rows stay below counts as that much: "Linear
 * models" (−0.3 %, whatever the bound from 2.5 to 4 times). `rows`: a sample is enough for a few weights and a temperature; not
 * measured apart.
 */
export const STACKING = {
  prior: { log_loss: 3, squared_error: 10 },
  costly: 0.01,
  least: 0.03,
  usualPart: 0.9,
  mostOff: 3,
  rows: 20_000,
  rowsApart: 2000,
};

/**
 * Finer bins for classes with little noise: quick trees on up to `parts` held-out parts have to explain `explained` of the loss,
 * and to lose less by `errors` standard errors with the new borders: "Targets with little noise" (16 tables −7.2 %; without the trial four of
 * them are 2 to 7 % higher). Of a column, a bin is divided that has at least `share` of the splits beside it, and `splits` of
 * them; `moved` borders at most, and `inBin` of them within a bin.
 */
export const FINER_BINS = {
  rows: 2500,
  borders: 100,
  iterations: 12,
  learningRate: 0.3,
  parts: 5,
  explained: 0.8,
  errors: 1,
  share: 0.1,
  splits: 8,
  moved: 80,
  inBin: 24,
};

/**
 * Columns of bins for what lies between the borders of the first one, of values that `rowsPerValue` rows share each, such as
 * those of a day, and that are at most so many: with more they are a scale. "7,000 to 54,000 rows, without a cap" (pm10 −17 %
 * with them, −3 % without).
 */
export const BETWEEN = { rowsPerValue: 20, values: 1000 };

/**
 * Levels of categories. Where `shared` of the rows have a level that others have too, all are named (told.md, "Levels of a single
 * row": named by their number of rows, a held-out row is always of a named level and a later one is not). More than a column
 * has bins are divided among columns by their text, `perShare` on average, at most `shares` columns, and those of `often` rows
 * have a column of their own too (told.md, "More levels than a column has bins").
 */
export const CATEGORY_LEVELS = { shared: 0.5, perShare: 200, shares: 16, often: 5 };

/**
 * Words of texts: columns of a text, and on average of a feature where a table of `manyRows` has several texts, for the memory
 * of a fit (test/large/service-memory.test.ts). From `rowsOfOnce` rows on one is left out that would be a column twice: half of
 * the time, for −0.5 to +2.7 % of the loss of seven tables; of fewer rows it costs up to 5 % and spares little (fit-times.md,
 * "Small fits").
 */
export const TEXTS = { tokens: 100, tokensPerFeature: 8, manyRows: 20_000, rowsOfOnce: 250 };

/**
 * Categories of more than `levels` levels are weak where these differ by less than `ratio` times as much as by chance. Without
 * a bound on the rows per level: of 19 public tables with fewer than 20 (Rdatasets) the RMSE falls by 1.3 % in the mean, worst
 * +1.0 %, best −16.6 %; taking all such columns for weak loses up to 5.6 %. Measured again by the tables.
 */
export const WEAK_CATEGORIES = { levels: 10, ratio: 2 };

/**
 * Linear models. Held-out rows choose among the penalties; a larger one within a standard error of the best: 0.0 to +0.2 % ("What
 * we tried on small classification tables"). The small ones, of numbers alone, cost a factorisation each: "Linear models". So do
 * `levels`: a category has a term for each of its most frequent ones of `rowsPerLevel` rows, for the largest of these numbers
 * that leaves room for all columns (50 before; fleets gain by them). Steps of logistic regression, and products that a fold may
 * cost: its time in fit-times.md, its loss not measured apart.
 */
export const LINEAR = {
  penalties: [300, 100, 30, 10, 3, 1, 0.3, 0.1],
  smallPenalties: [0.01, 0.001, 0.0001, 0.00001],
  levels: [Infinity, 100, 50, 25, 10],
  rowsPerLevel: 3,
  steps: { least: 5, most: 60 },
  work: 1.5e8,
};

/**
 * When there is a Gaussian process, and of what size.
 *
 * Of numbers: explaining a row costs points × columns²; with few columns there are more points, for the same bytes. `left` is the
 * most of the variance that the others may leave: of what is mostly noise a process would lower the loss by 0.1 to 0.3 %, and
 * take half as long as all else ("What each candidate and each rule is worth"). Length scales are learned from `sampled` rows, in
 * the last stage from more: chosen on the six machines of numbers of `npm run bench -- advise`, 300 rows and four train sets each
 * (their means are 4 to 12 % nearer the truth than with a third of the rows, for 15 % of the time of a fit at most), and on two
 * of them and an extruder with 2,000 rows; advise.md and told.md.
 *
 * Of classes, where a process is worth more, a product is compared with fewer points (why.md, "What we tried": 60 or 80 points
 * lose 0.4 to 0.6 %). With fewer rows per column, columns of high gain are partly chosen by chance, and held-out rows do not
 * show it; with more `scores` (rows × outputs) it takes longer than the rest of the fit. Neither was measured apart.
 *
 * `unseen`: up to so many rows the target of a held-out row says much of a kernel, so scores are told by others. With three
 * what is told of generated tables is at most 2 % too low; it was 4 to 15 %. Five gain 2 % where there is no noise, for 13 % of the
 * time of a fit (told.md).
 */
export const PROCESS = {
  rows: { least: 30, most: 5000 },
  numbers: {
    columns: 12,
    left: 0.4,
    sampled: 200,
    manyRows: 1500,
    atLast: { few: 300, many: 500, iterations: 12 },
    points: 400,
    pointsTimesColumns: 2400,
    ridges: { rows: 400, most: 3 },
  },
  classes: { columns: 16, points: 120, rowsPerColumn: 6, scores: 3000 },
  unseen: { rows: 300, kernels: 3 },
};

/**
 * Kernels of one direction. Directions that tell less than `told` standard deviations more than chance are not tried. The others
 * are with a variance (its logarithm) and a `rate` (√5 / length); where the evidence gains `promise` nats by that alone, all is
 * learned anew, and where it has gained `gain` nats then, the direction stays. Chosen on train sets of seven machines of
 * `npm run bench -- advise`: at first the evidence gains 5 to 108 nats by the ridges of the extruder and the pump, and is less
 * than before on machines without any; at last it gains 40 to 348. With 12 iterations the pump is off by up to a fifth more.
 * Measured again in docs/benchmarks/advise.md.
 */
export const RIDGE = { told: 4, variance: -2, rate: 5, promise: 3, gain: 10, iterations: 20 };

/**
 * Whether classes are learned from the rows beside them: few and quick trees, on `parts` parts at random and of blocks. With
 * fewer rows a block is a handful of them; with fewer `runs` of equal classes the table is sorted by them. How much `worse`
 * blocks have to be, and by how many standard errors: chosen on simulated weeks and the UCI room occupancy data (told.md, "Rows
 * that follow each other").
 */
export const NEIGHBOURS = {
  rows: 200,
  runs: 3,
  parts: 4,
  iterations: 50,
  learningRate: 0.15,
  worse: 1.1,
  errors: 2,
};

/**
 * Whether a date tells its calendar: few and quick trees, and the parts that are held out one after the other. With more rows
 * columns that tell nothing cost little. `errors`: standard errors by which held-out rows must be predicted better without it.
 * Chosen on 58 public tables of 120 to 400 rows with dates, from the losses with and without it: it is left out of some nine of
 * them. Where it is left out in every split, the losses of four fall by 20 to 31 % and those of the others stay within 2 %. With
 * a bound of 0 it is left out of more tables, of which one loses six times as much and two lose 14 and 19 % more. No other
 * tables were tried.
 */
export const CALENDAR = { rows: 5000, parts: 5, iterations: 40, learningRate: 0.2, errors: 1.5 };

/**
 * What counts as clear growth of a change with its level: how far the level moved, as a factor; how much its changes moved with it
 * (1: in proportion); and how significantly, between the means of stretches of rows. A trial holds out every third part; a line
 * may lose so much by logarithms, since the band gains by them, and loses far more on daily curves. What growth gains:
 * unseen-series.md; the bounds were not measured apart.
 */
export const GROWTH = {
  stretches: { least: 4, most: 10, rows: 8 },
  range: 1.3,
  slope: 0.5,
  t: 3,
  triedEach: 3,
  mayLose: 1.1,
};

/**
 * Temperature and label noise. `strength` of the prior on the logarithm of the temperature, in nats: a few dozen rows say little
 * about how confident a model may be. The prior is at `usual.low` where scores explain nothing, and falls by `usual.fall` where
 * they explain all. Chosen on 300 random tasks of 30 to 300 rows (linear, stepwise, pairwise and clustered classes, 2 to 6 of
 * them, with and without label noise): learner.md, "What we tried"; other strengths from 1 to 25: −0.1 to +0.4 % ("What we tried on
 * small classification tables"). `noisePenalty`: nats for a noise of 1, so that noise needs evidence.
 */
export const CALIBRATION = {
  strength: 3,
  usual: { low: 0.3, fall: 0.9 },
  noisePenalty: 5,
  mostNoise: 0.6,
};

/**
 * The forest of residuals: its trees, the columns that each may split by, the rows it learns from (as many as a bootstrap sample
 * has), the residuals it knows, and the weights of all rows against a leaf to choose from. Coverage and pinball loss: learner.md,
 * at its top; not measured apart. `compared`: the part of the errors by which those of a process are compared with those of
 * kernels that have not seen the rows, as a wild one of these says nothing of the band.
 */
export const RESIDUALS = {
  trees: 60,
  columns: 128,
  rows: 20_000,
  sampled: 0.63,
  atoms: 1024,
  mixes: [0.05, 0.15, 0.3, 0.5, 0.75, 1],
  compared: 0.8,
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
