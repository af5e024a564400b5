import { comparableLabel } from '../../src/metrics/answer-costs';
import { answersFrom } from '../../src/metrics/thresholds';
import { costFields, costOf } from './costs';
import { bdi, el, number, ofOne, percent, smallButton, svg, text } from './dom';
import * as pictures from './pictures';

/* What a threshold finds and its false alarms, and the one that the model answers by: seen, moved, chosen. */

const RULES = ['accuracy', 'f1', 'costs'];

/* The points of a curve, and before them one at which nothing is answered. */
function pointsOf({ at, hits, false_alarms: alarms }) {
  const points = at.map((from, i) => ({ from, hits: hits[i], false_alarms: alarms[i] }));
  return at[0] < 1 ? [{ from: 1, hits: 0, false_alarms: 0 }, ...points] : points;
}

/* What was answered at a point, in words: also per day, where it is known how many days the rows are of. */
function saidOf({ from, hits, false_alarms: alarms }, { positives, days }) {
  const said = text('caption.threshold', {
    at: percent(from),
    hits: number(hits),
    positives: number(positives),
    part: percent(hits / positives),
    alarms: number(alarms),
    right: percent(hits / (hits + alarms)),
  });
  const perDay = (count) => number(Number((count / days).toPrecision(2)));
  return days > 0
    ? `${said} ${text('caption.perDay', { hits: perDay(hits), alarms: perDay(alarms) })}`
    : said;
}

function inUse(threshold) {
  const { at, by, label } = threshold || {};
  if (at === undefined) {
    return [text('threshold.none')];
  }
  const said = text(by ? 'threshold.usedBest' : 'threshold.used', {
    at: percent(at),
    by: by ? text(`threshold.${by}`) : '',
  });
  return [said, ' ', bdi(label)];
}

/* What is found from a probability on. */
const foundFrom = (curve, from) => ({ from, ...answersFrom(curve, from) });

const isSame = (one, other) => comparableLabel(one) === comparableLabel(other);

/* The scores of a card as it answers: by the threshold in use, where there is one, and with what its answers cost. */
export function answeredScores(curve, { scores, threshold, costs }) {
  const isOf = threshold && curve && isSame(threshold.label, curve.positive);
  if (!curve || (threshold && !isOf)) {
    return scores;
  }
  const { positives, negatives } = curve;
  const point = foundFrom(curve, isOf ? threshold.at : 0.5);
  const cost = costOf(curve, costs, point);
  return {
    ...scores,
    ...(isOf && { accuracy: (point.hits + negatives - point.false_alarms) / (positives + negatives) }),
    ...(cost && { cost: cost.own, baseline: { ...scores.baseline, cost: cost.without } }),
  };
}

/* What was answered, by the threshold that is in use where there is one: as the predict node would. */
export function answeredBy(curves, threshold) {
  const { labels, others, by_threshold: curve } = curves;
  const { label, at } = threshold || {};
  const sought = labels.findIndex((one) => isSame(one, label));
  if (!curve || !isSame(curve.positive, label) || labels.length !== 2 || others || sought < 0) {
    return curves;
  }
  const { positives, negatives } = curve;
  const { hits, false_alarms: alarms } = answersFrom(curve, at);
  const found = [
    [hits, positives - hits],
    [alarms, negatives - alarms],
  ];
  return {
    ...curves,
    from: at,
    confusion: sought === 0 ? found : found.map((row) => row.reverse()).reverse(),
  };
}

/* The slider that was moved last, and where it stands. */
let moved;

/*
 * The slider of a model that is drawn anew, for new costs or numbers, stays where it was moved to.
 *
 * @param choose keeps a threshold: a number, what it is the best for, or null; left out where the model is gone
 * @param price keeps costs
 */
export function thresholdPicture(curve, card, { choose, price }) {
  const { name, scores, thresholds = {}, threshold } = card;
  const { positive, positives, negatives } = curve;
  const points = pointsOf(curve);
  /* The last point that is not below a probability. */
  const pointAt = (from) =>
    Math.max(
      0,
      points.findLastIndex((one) => one.from >= from),
    );
  // Without one the more probable label is answered. It lies between two points, and finds what the upper one finds.
  const inUseFrom = threshold ? threshold.at : 0.5;
  let chosen = pointAt(inUseFrom);
  points[chosen].from = inUseFrom;
  let rule;
  let place;
  const figure = pictures.plot({
    title: text('picture.roc', { label: positive }),
    caption: Number.isFinite(scores.roc_auc) ? text('caption.roc', { area: ofOne(scores.roc_auc) }) : '',
    x: { range: [0, 1], label: text('axis.falseAlarms'), format: percent },
    y: { range: [0, 1], label: text('axis.hits'), format: percent },
    square: true,
    paint(drawing, sx, sy) {
      const drawn = points.map(({ false_alarms: alarms, hits }) => [
        sx(alarms / negatives),
        sy(hits / positives),
      ]);
      const all = [[sx(0), sy(0)], ...drawn];
      const dot = svg('circle', { class: 'tabular-point tabular-chosen', r: 5 });
      drawing.append(
        svg('path', { class: 'tabular-area', d: `${pictures.path([...all, [sx(1), sy(0)]])}Z` }),
        svg('path', {
          class: 'tabular-even',
          d: pictures.path([
            [sx(0), sy(0)],
            [sx(1), sy(1)],
          ]),
        }),
        svg('path', { class: 'tabular-line', d: pictures.path(all) }),
        dot,
      );
      place = () => {
        const [cx, cy] = drawn[chosen];
        dot.setAttribute('cx', cx);
        dot.setAttribute('cy', cy);
      };
      place();
    },
  });
  const said = el('p', { class: 'tabular-said', 'aria-live': 'polite' });
  const slider = el('input', {
    type: 'range',
    min: 0,
    max: points.length - 1,
    value: chosen,
    'aria-label': text('picture.threshold'),
    oninput: () => moveTo(points[slider.value].from),
  });
  function move(to, by) {
    chosen = to;
    rule = by;
    slider.value = to;
    // The best for something lies between two points as well.
    const from = by ? thresholds[by].at : points[to].from;
    slider.setAttribute('aria-valuetext', percent(from));
    said.textContent = saidOf({ ...points[to], from }, curve);
    costs.show({ ...points[to], from });
    place?.();
  }
  function moveTo(from, by) {
    moved = { figure, name, inUseFrom, from, by };
    move(pointAt(by ? thresholds[by].at : from), by);
  }
  const costs = costFields(curve, card, { probable: foundFrom(curve, 0.5), keep: price });
  move(chosen);
  // Costs that were typed a moment ago are kept first.
  const chosenAfterCosts = (wish) => costs.kept().then(() => choose(wish));
  const known = RULES.filter((one) => thresholds[one] && isSame(thresholds.label, positive));
  if (moved?.figure.isConnected && moved.name === name && moved.inUseFrom === inUseFrom) {
    const { from, by } = moved;
    moveTo(from, known.includes(by) ? by : undefined);
  }
  figure.classList.add('tabular-tall');
  figure.append(
    el('label', { class: 'tabular-threshold' }, text('picture.threshold'), slider),
    said,
    known.length === 0
      ? ''
      : el(
          'div',
          { class: 'tabular-buttons tabular-best' },
          el('span', {}, text('threshold.best')),
          known.map((one) =>
            smallButton(one, text(`threshold.${one}`), () => moveTo(thresholds[one].at, one)),
          ),
        ),
    costs.root,
    el('p', { class: 'tabular-said tabular-in-use' }, text('threshold.inUse'), ' ', inUse(threshold)),
    choose
      ? el(
          'div',
          { class: 'tabular-buttons' },
          smallButton('use', text('threshold.use'), () => chosenAfterCosts(rule || points[chosen].from)),
          threshold ? smallButton('drop', text('threshold.drop'), () => chosenAfterCosts(null)) : '',
        )
      : '',
  );
  return figure;
}
