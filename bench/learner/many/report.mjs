/* Many tables in a few figures. */
import { openResults } from '../../results.mjs';

const results = openResults(new URL('many.mjs', import.meta.url).href);

/** Per table the mean over its splits of the figures of `of(key)`. */
function meanOf(keys, of) {
  const known = keys.map(of).filter((value) => value !== undefined);
  return known.length === keys.length && known.length > 0
    ? known.reduce((sum, value) => sum + value, 0) / known.length
    : undefined;
}

/** @param id names the table of the models among the results */
export async function printReport({ ours, peers, before, names, id }) {
  const models = [...new Set(Object.values(peers).flatMap((one) => Object.keys(one)))];
  const rows = names.map((name) => {
    const keys = Object.keys(ours).filter((key) => key.startsWith(`${name} `));
    const losses = Object.fromEntries(
      models.map((model) => [model, meanOf(keys, (key) => peers[key]?.[model]?.loss)]),
    );
    const seconds = Object.fromEntries(
      models.map((model) => [model, meanOf(keys, (key) => peers[key]?.[model]?.seconds)]),
    );
    const mean = (what) => meanOf(keys, (key) => ours[key][what]);
    const best = models
      .filter((model) => model !== 'blend' && losses[model] !== undefined)
      .sort((a, b) => losses[a] - losses[b])[0];
    return {
      name,
      rows: Number(keys[0]?.split(' ')[1]),
      loss: mean('loss'),
      before: meanOf(keys, (key) => before[key]?.loss),
      secondsBefore: meanOf(keys, (key) => before[key]?.seconds),
      seconds: mean('seconds'),
      predict: mean('predict'),
      bytes: mean('bytes'),
      losses,
      peerSeconds: seconds,
      best,
      behind: best === undefined ? undefined : mean('loss') / losses[best] - 1,
      weights: ours[keys[0]]?.weights,
    };
  });
  console.log('| table | rows | ours | before | best other | | ours above it | s | kB | weights |');
  console.log(`|${'---|'.repeat(10)}`);
  for (const row of [...rows].sort((a, b) => (b.behind ?? 0) - (a.behind ?? 0))) {
    const change = row.before === undefined ? '' : percent(row.loss / row.before - 1);
    const other =
      row.best === undefined ? ['', '', ''] : [row.best, digits(row.losses[row.best]), percent(row.behind)];
    console.log(
      `| ${[row.name, row.rows, digits(row.loss), change, ...other, row.seconds.toFixed(1), Math.round(row.bytes / 1000), row.weights].join(' | ')} |`,
    );
  }
  summary(rows, models, id);
  await results.save();
}

function summary(rows, models, id) {
  const share = (list, test) => `${list.filter(test).length} of ${list.length}`;
  const judged = rows.filter((row) => row.best !== undefined);
  console.log(
    `\nsome single model better by more than 5 %: ${share(judged, (row) => row.loss > row.losses[row.best] * 1.05)}`,
  );
  console.log(`by more than 10 %: ${share(judged, (row) => row.loss > row.losses[row.best] * 1.1)}`);
  const compared = rows.filter((row) => row.before !== undefined);
  if (compared.length > 0) {
    const changes = compared.map((row) => row.loss / row.before - 1).sort((a, b) => a - b);
    const logs = changes.map((change) => Math.log(1 + change));
    console.log(
      `against before: mean ${percent(Math.exp(logs.reduce((a, b) => a + b, 0) / logs.length) - 1)}, median ${percent(median(changes))}, ` +
        `worse by more than 2 %: ${share(compared, (row) => row.loss > row.before * 1.02)}, better by more than 2 %: ${share(compared, (row) => row.loss < row.before * 0.98)}; ` +
        `seconds ${compared.reduce((sum, row) => sum + row.secondsBefore, 0).toFixed(0)} → ${compared.reduce((sum, row) => sum + row.seconds, 0).toFixed(0)}`,
    );
  }
  const ranks = judged.map((row) =>
    rank([row.loss, ...models.map((model) => row.losses[model] ?? Infinity)]),
  );
  const meanRank = (i) => (ranks.reduce((sum, one) => sum + one[i], 0) / ranks.length).toFixed(2);
  const table = results.table(
    id,
    [
      'model',
      'mean rank',
      'ours better on',
      'median difference of ours',
      'processor seconds of a fit, median',
    ],
    'The models:',
  );
  table.row('ours', meanRank(0), '', '', median(rows.map((row) => row.seconds)).toFixed(2));
  models.forEach((model, i) => {
    const both = judged.filter((row) => row.losses[model] !== undefined);
    const difference = percent(median(both.map((row) => row.loss / row.losses[model] - 1)));
    const seconds = median(both.map((row) => row.peerSeconds[model])).toFixed(2);
    table.row(
      model,
      meanRank(i + 1),
      share(both, (row) => row.loss < row.losses[model]),
      difference,
      seconds,
    );
  });
  console.log(
    `\nmodel: median ${Math.round(median(rows.map((row) => row.bytes)) / 1000)} kB; all fits ${rows.reduce((sum, row) => sum + row.seconds, 0).toFixed(0)} s a split`,
  );
}

function rank(losses) {
  return losses.map((loss) => 1 + losses.filter((other) => other < loss).length);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const digits = (value) => (value === undefined ? '' : value.toPrecision(4));
