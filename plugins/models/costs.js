import { cheapestThreshold, fourCosts, totalCost } from '../../src/metrics/answer-costs';
import { answersFrom } from '../../src/metrics/thresholds';
import { el, number, percent, text } from './dom';

/* What the answers by a threshold cost: two fields, and the totals on the rows that the model is scored on. */

/* What a model's answers cost by its threshold, and those of always giving the same answer; undefined where unknown. */
export function costOf(curve, costs, point) {
  const { positive, positives, negatives } = curve;
  const four = costs && fourCosts(costs, positive);
  const never = { hits: 0, false_alarms: 0 };
  const always = { hits: positives, false_alarms: negatives };
  return (
    four && {
      own: totalCost(curve, four, point),
      without: Math.min(totalCost(curve, four, never), totalCost(curve, four, always)),
    }
  );
}

/* What is typed and not kept yet, or on its way: new numbers of the model take nothing from a field that is being filled in. */
let typed;
/* Settles when what was typed last is kept: one after the other, since of two on their way the older may come last. */
let saving = Promise.resolve();

/* Draws all anew: a field that is taken away as it is typed into has not been left, though the browser says so. */
let isDrawn = false;
export function whileDrawn(draw) {
  isDrawn = true;
  try {
    draw();
  } finally {
    isDrawn = false;
  }
}

/*
 * @param probable the point of the more probable label
 * @param keep keeps costs, or null for none
 * @returns `show` tells the totals for a point of the slider
 */
export function costFields(curve, { name, costs }, { probable, keep }) {
  const { positive, positives, negatives, days } = curve;
  const known = costs && fourCosts(costs, positive);
  const fields = { missed: known?.miss, false_alarm: known?.falseAlarm };
  if (typed?.name === name) {
    Object.assign(fields, typed.fields);
  }
  let shown = probable;
  const input = (field, label) => {
    const value = fields[field];
    return el(
      'label',
      {},
      label,
      el('input', {
        type: 'number',
        min: 0,
        step: 'any',
        value: value === undefined ? '' : value,
        'data-keep': `cost-${field}`,
        oninput: ({ target }) => {
          fields[field] = target.value === '' ? undefined : Math.max(0, Number(target.value));
          typed = { name, fields };
          draw();
        },
        onchange: () => save(),
        // A field that was drawn anew meanwhile tells no change.
        onblur: () => save(),
      }),
    );
  };
  const totals = el('div', { 'aria-live': 'polite' });

  const given = () => {
    const all = Object.entries(fields).filter(([, cost]) => Number.isFinite(cost));
    return all.length === 0 ? null : Object.fromEntries(all);
  };

  /* Kept once a field is left, and the focus goes where it was going. */
  function save() {
    const mine = typed;
    if (mine?.name !== name || mine.isSaving || isDrawn) {
      return;
    }
    mine.isSaving = true;
    const last = given();
    saving = saving
      .then(() => keep(last))
      // What went wrong has been told.
      .catch(() => undefined)
      .finally(() => (typed = typed === mine ? undefined : typed));
  }

  function draw() {
    const now = typed?.name === name ? given() : costs;
    const four = now && fourCosts(now, positive);
    if (!four) {
      totals.replaceChildren();
      return;
    }
    const total = (point) => totalCost(curve, four, point);
    const { at } = cheapestThreshold(curve, four);
    const best = { from: at, ...answersFrom(curve, at) };
    const line = (said, point) =>
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, said),
        el('td', {}, number(total(point))),
        days > 0
          ? el('td', {}, text('costs.perDay', { cost: number(Number((total(point) / days).toPrecision(2))) }))
          : '',
      );
    totals.replaceChildren(
      el('div', { class: 'tabular-said' }, text('costs.title', { rows: number(positives + negatives) })),
      el(
        'table',
        { class: 'tabular-totals' },
        el(
          'tbody',
          {},
          line(text('costs.here', { at: percent(shown.from) }), shown),
          line(text('costs.probable'), probable),
          line(text('costs.best', { at: percent(best.from) }), best),
        ),
      ),
    );
  }

  return {
    root: el(
      'div',
      { class: 'tabular-costs' },
      input('missed', text('costs.missed', { label: positive })),
      input('false_alarm', text('costs.falseAlarm')),
      totals,
    ),
    show(point) {
      shown = point;
      draw();
    },
    /* Resolves when what was typed is kept. */
    kept: () => saving,
  };
}
