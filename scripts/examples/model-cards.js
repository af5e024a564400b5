// Both fits end here: the dashboard is given the cards of all models at each.
const cards = context.get('cards') || {};
const { name, task, target, rows, columns, fitted_at, scores, importance } = msg.model;
const shown = ['accuracy', 'log_loss', 'roc_auc', 'rmse', 'mae', 'r2', 'coverage_80'];
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
    .filter((score) => scores && Number.isFinite(scores[score]))
    .map((score) => [score.replace('_', ' '), scores[score].toFixed(3)]),
  importance: (importance || []).slice(0, 5).map(({ column, gain }) => ({
    column,
    percent: Math.round(100 * gain),
  })),
};
context.set('cards', cards);
return { payload: Object.values(cards) };
