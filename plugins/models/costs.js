/* global RED */
/* What the answers by a threshold cost: two fields, and the totals on the rows that the model is scored on. */
(function () {
  'use strict';
  const models = RED.tabularPrediction.models;
  const { el, text, number, percent } = models;

  /* Of a wrong answer that has no cost of its own. */
  const WRONG = 1;

  /* Costs of the four answers, as the card has them: of a miss and a false alarm, or by the true label and the answer. */
  function fourCosts(costs, positive) {
    const all = Object.entries(costs);
    if (all.every(([, cost]) => Number.isFinite(cost))) {
      return { hit: 0, miss: costs.missed ?? WRONG, falseAlarm: costs.false_alarm ?? WRONG, pass: 0 };
    }
    const isPositive = (label) => label === String(positive);
    const named = all.flatMap(([label, answers]) =>
      Object.entries(answers).map(([answer, cost]) => ({ label, answer, cost })),
    );
    const costOf = (isOf, answeredSo) =>
      named.find(({ label, answer }) => isPositive(label) === isOf && isPositive(answer) === answeredSo)
        ?.cost ?? (isOf === answeredSo ? 0 : WRONG);
    return {
      hit: costOf(true, true),
      miss: costOf(true, false),
      falseAlarm: costOf(false, true),
      pass: costOf(false, false),
    };
  }

  const totalOf = ({ hit, miss, falseAlarm, pass }, { positives, negatives }, { hits, alarms }) =>
    hits * hit + (positives - hits) * miss + alarms * falseAlarm + (negatives - alarms) * pass;

  /* What a model's answers cost by its threshold, and those of always giving the same answer; undefined where unknown. */
  models.costOf = (curve, costs, point) => {
    const { positive, positives, negatives } = curve;
    const four = costs && fourCosts(costs, positive);
    const never = { hits: 0, alarms: 0 };
    const always = { hits: positives, alarms: negatives };
    return (
      four && {
        own: totalOf(four, curve, point),
        without: Math.min(totalOf(four, curve, never), totalOf(four, curve, always)),
      }
    );
  };

  /* What is typed and not kept yet, or on its way: new numbers of the model take nothing from a field that is being filled in. */
  let typed;

  /*
   * @param points of the curve, falling
   * @param probable the point of the more probable label
   * @param keep keeps costs, or null for none
   * @returns `show` tells the totals for a point of the slider
   */
  models.costs = (curve, { name, costs }, { points, probable, keep }) => {
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
    let saving;
    function save() {
      const mine = typed;
      if (mine?.name !== name || mine.isSaving) {
        return;
      }
      mine.isSaving = true;
      saving = keep(given()).always(() => {
        typed = typed === mine ? undefined : typed;
      });
    }

    function draw() {
      const now = typed?.name === name ? given() : costs;
      const four = now && fourCosts(now, positive);
      if (!four) {
        totals.replaceChildren();
        return;
      }
      const total = (point) => totalOf(four, curve, point);
      const best = points.reduce((least, one) => (total(one) < total(least) ? one : least));
      const line = (said, point) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, said),
          el('td', {}, number(total(point))),
          days > 0
            ? el(
                'td',
                {},
                text('costs.perDay', { cost: number(Number((total(point) / days).toPrecision(2))) }),
              )
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
  };
})();
