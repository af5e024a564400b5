// Both fits end here: the dashboard is given the cards of all models at each.
const cards = context.get('cards') || {};
const { name, task, target, rows, columns, fitted_at, scores, importance } = msg.model;
const number = (value) => value.toFixed(3);
const percent = (value) => `${Math.round(100 * value)} %`;
// How much the loss rises without a column, as its part of the rises of all.
const rises = (importance || []).map(({ column, permutation }) => ({
  column,
  rise: Math.max(0, permutation),
}));
const all = rises.reduce((sum, { rise }) => sum + rise, 0) || 1;
const shown = [
  ['accuracy', 'accuracy', number],
  ['log_loss', 'log loss', number],
  ['roc_auc', 'ROC AUC', number],
  ['rmse', 'RMSE', number],
  ['mae', 'MAE', number],
  ['r2', 'R²', number],
  ['coverage_80', '80 % band', (share) => `holds ${percent(share)}`],
];
cards[name] = {
  name,
  facts: [
    ['task', task],
    ['target', target],
    ['rows', rows.toLocaleString('en')],
    ['columns', columns.length],
    ['fitted', fitted_at.slice(0, 19).replace('T', ' ') + ' UTC'],
  ],
  scores: shown
    .filter(([score]) => scores && Number.isFinite(scores[score]))
    .map(([score, label, text]) => [label, text(scores[score])]),
  importance: rises.slice(0, 5).map(({ column, rise }) => ({
    column,
    percent: Math.round((100 * rise) / all),
  })),
};
context.set('cards', cards);
return { payload: Object.values(cards) };
