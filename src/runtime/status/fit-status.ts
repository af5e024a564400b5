import type { ModelCard } from '../../scoring/types';
import type { StatusLine } from './status-line';

/** What a fit node shows of its model: how good it is where that is known, else the task that was found out. */
export function showFitted(status: StatusLine, card: ModelCard, taskFound: boolean): void {
  const { accuracy, r2 } = card.scores ?? {};
  const kind = card.doubts === undefined ? 'ready' : 'doubtful';
  const suffix = card.order === 'time' ? 'InTime' : '';
  if (accuracy !== undefined) {
    status.show(kind, `fitted.accuracy${suffix}`, { score: status.number(rounded(accuracy), 2) });
  } else if (r2 !== undefined) {
    status.show(kind, `fitted.r2${suffix}`, { score: status.number(rounded(r2), 2) });
  } else if (taskFound) {
    status.show(kind, `fitted.${card.task}`);
  } else if (card.rows > 0) {
    status.show(kind, 'fitted.ready', { rows: card.rows });
  } else {
    status.show(kind, 'fitted.plain');
  }
}

/** With two digits it is never 1.00 for what is less. */
function rounded(score: number): number {
  return score < 1 ? Math.min(score, 0.99) : score;
}
