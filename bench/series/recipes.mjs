/*
 * Which columns should a row have? The first part of a series is fitted with each recipe, the later part scored.
 * npm run bench -- recipes [name part …]; at most BENCH_ROWS (3000) are fitted.
 */
import { fitAndPredict, seriesRows, thinned } from './rows.mjs';
import { SOURCES } from './sources.mjs';

const most = Number(process.env.BENCH_ROWS ?? 3000);
const wanted = process.argv.slice(2);

const isOf =
  (...kinds) =>
  (name) =>
    kinds.some((kind) => new RegExp(` (?:${kind}) `, 'u').test(`${name} `));
const isCalendar = (name) => ['hour', 'weekday', 'month'].includes(name);
const isBefore = (name) => / (?:a (?:day|week) before|usual (?:now|change))$/u.test(name);
const isChangeBefore = (name) => / (?:change a (?:day|week) before|usual change)$/u.test(name);
const isWindow = (name) =>
  !isBefore(name) && isOf('change', 'mean', 'spread', 'lowest', 'highest', 'changes', 'for')(name);

/** From the settings and the columns of the default. */
const RECIPES = {
  default: {},
  'now and calendar only': { columns: (name) => !isWindow(name) && !isBefore(name) },
  'window changes only': { columns: (name) => !isWindow(name) || isOf('change')(name) },
  'without spread': { columns: (name) => !isOf('spread')(name) },
  'without minimum, maximum': { columns: (name) => !isOf('lowest', 'highest')(name) },
  'without calendar': { columns: (name) => !isCalendar(name) },
  'without past days and usual': { columns: (name) => !isBefore(name) },
  'without changes on past days': { columns: (name) => !isChangeBefore(name) },
  'without usual': { columns: (name) => !/ usual (?:now|change)$/u.test(name) },
  'without the day window': { columns: (name, longest) => longest === undefined || !name.endsWith(longest) },
  'windows ½, 1, 3, 6 × ahead': { windows: [0.5, 1, 3, 6] },
  'learn the level, not the change': { relative: false },
};

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function lossOf({ result, base, truths, isClass }) {
  if (isClass) {
    return mean(
      truths.map(
        (truth, row) => -Math.log(Math.max(1e-15, result.probas[2 * row + (truth === 'yes' ? 1 : 0)])),
      ),
    );
  }
  const means = result.mean();
  return mean(truths.map((truth, row) => Math.abs(means[row] + base[row] - truth)));
}

const losses = {};
for (const [name, make] of Object.entries(SOURCES)) {
  const source = wanted.length === 0 || wanted.some((part) => name.includes(part)) ? make() : undefined;
  if (source === undefined) {
    continue;
  }
  losses[name] = {};
  let plain;
  for (const [recipe, { windows, columns = () => true, relative = true }] of Object.entries(RECIPES)) {
    const own = windows && { windows: windows.map((factor) => `${factor * source.ahead}ms`).join(',') };
    const rows =
      own || !plain ? await seriesRows({ ...source, options: { ...source.options, ...own } }) : plain;
    plain ??= rows;
    const { trainSet, train } = rows;
    const names = Object.keys(train[0]).filter((column) => column !== trainSet.target && column !== 'key');
    const longest =
      names.some((column) => column.endsWith(' mean 1d')) && source.ahead < 86_400_000 ? ' 1d' : undefined;
    const kept = names.filter((column) => columns(column, longest));
    const later = thinned(rows.later, 4000);
    losses[name][recipe] = lossOf(fitAndPredict({ trainSet, train, later, columns: kept, most, relative }));
  }
  console.error(name, losses[name]);
}

const tables = Object.keys(losses);
console.log(`| recipe | ${tables.join(' | ')} | mean | worst |`);
console.log(`|${'---|'.repeat(tables.length + 3)}`);
for (const recipe of Object.keys(RECIPES)) {
  const ratios = tables.map((name) => losses[name][recipe] / losses[name].default);
  const geometric = Math.exp(mean(ratios.map(Math.log)));
  const cells = [...ratios, geometric, Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
  console.log(`| ${recipe} | ${cells.join(' | ')} |`);
}
