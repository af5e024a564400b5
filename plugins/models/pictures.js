import { bdi, el, number, ofOne, percent, svg, text, time } from './dom';

/*
 * The pictures of a model: plain SVG in the colours of the editor, drawn anew when the room changes. What a picture
 * says stands as text under it.
 */

/* Of a narrow picture, pixels. */
const LOWEST = 130;
/* Labels whose confusion matrix has room beside another picture. */
const ROOM = 4;
/* Rows of a dot of the calibration. */
const LEAST_ROWS = 10;
const MARGIN = { left: 38, right: 14, top: 22, topAlone: 8, bottom: 30, bottomAlone: 16 };

/* About `wanted` round numbers from low to high. */
function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(i * step || 0);
  }
  // One number says nothing of a scale.
  return found.length < 2 && wanted < 20 ? ticks(low, high, wanted * 2) : found;
}

/* Low and high of numbers, never the same. */
export function span(...lists) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const one of list) {
      if (Number.isFinite(one)) {
        low = Math.min(low, one);
        high = Math.max(high, one);
      }
    }
  }
  if (low > high) {
    return [0, 1];
  }
  const room = high > low ? (high - low) * 0.03 : Math.abs(low) * 0.05 || 1;
  return [low - room, high + room];
}

export const path = (points) =>
  points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/*
 * A picture with axes. `x`, `y`: {range, label, format}; `paint` gets the drawing and both scales. `square`: as high
 * as it is wide, within reason; `low`: one of many.
 */
export function plot({ title, caption, x, y, square, low, paint }) {
  const room = el('div', { class: 'tabular-plot' });
  const draw = () => {
    const width = room.clientWidth;
    if (width < 60) {
      return;
    }
    const height = low ? LOWEST : Math.round(Math.min(Math.max(square ? width : width * 0.6, LOWEST), 240));
    const top = y.label === '' ? MARGIN.topAlone : MARGIN.top;
    const xTicks = x.ticks
      ? x.ticks(width)
      : ticks(...x.range, Math.max(2, (width - MARGIN.left - MARGIN.right) / 60));
    const hasBoth = x.label !== '' && xTicks.length > 0;
    const [right, bottom] = [width - MARGIN.right, height - (hasBoth ? MARGIN.bottom : MARGIN.bottomAlone)];
    const sx = (value) =>
      MARGIN.left + ((value - x.range[0]) / (x.range[1] - x.range[0])) * (right - MARGIN.left);
    const sy = (value) => bottom - ((value - y.range[0]) / (y.range[1] - y.range[0])) * (bottom - top);
    const drawing = svg('svg', { width, height, role: 'img', 'aria-label': `${title}. ${caption}` });
    for (const at of ticks(...y.range, Math.max(2, height / 45))) {
      drawing.append(
        svg('line', { class: 'tabular-grid', x1: MARGIN.left, x2: right, y1: sy(at), y2: sy(at) }),
        svg('text', { x: MARGIN.left - 4, y: sy(at) + 3, 'text-anchor': 'end' }, (y.format || number)(at)),
      );
    }
    for (const [i, at] of xTicks.entries()) {
      // Long words at the ends stay within the picture.
      const anchor = x.ticks ? (i === 0 ? 'start' : i === xTicks.length - 1 ? 'end' : 'middle') : 'middle';
      drawing.append(
        svg('text', { x: sx(at), y: bottom + 12, 'text-anchor': anchor }, (x.format || number)(at)),
      );
    }
    drawing.append(
      svg('line', { class: 'tabular-axis', x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }),
      svg('text', { class: 'tabular-axis-name', x: 0, y: 9 }, y.label),
      svg('text', { class: 'tabular-axis-name', x: right, y: height - 3, 'text-anchor': 'end' }, x.label),
    );
    paint(drawing, sx, sy);
    room.replaceChildren(drawing);
  };
  new ResizeObserver(draw).observe(room);
  return el(
    'figure',
    {},
    el('div', { class: 'tabular-figure-name' }, title),
    room,
    el('figcaption', {}, caption),
  );
}

export function againstActual({ actual, predicted }, scores, isChange) {
  const range = span(actual, predicted);
  // The score is of the level: of a change it would be another.
  const r2 = !isChange && Number.isFinite(scores.r2) ? text('caption.r2', { r2: ofOne(scores.r2) }) : '';
  return plot({
    title: text(isChange ? 'picture.changes' : 'picture.against'),
    caption: `${text('caption.against', { mae: number(scores.mae) })} ${r2}`,
    x: { range, label: text('axis.actual') },
    y: { range, label: text('axis.predicted') },
    square: true,
    paint(drawing, sx, sy) {
      drawing.append(
        svg('path', { class: 'tabular-even', d: path(range.map((at) => [sx(at), sy(at)])) }),
        ...actual.map((at, i) =>
          svg('circle', { class: 'tabular-dot', cx: sx(at), cy: sy(predicted[i]), r: 2.2 }),
        ),
      );
    },
  });
}

/* Where this part of the rows of a histogram lies below. */
function below({ edges, counts }, part) {
  const wanted = part * counts.reduce((sum, one) => sum + one, 0);
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    if (sum + counts[i] >= wanted) {
      return edges[i] + (edges[i + 1] - edges[i]) * ((wanted - sum) / counts[i]);
    }
    sum += counts[i];
  }
  return edges.at(-1);
}

export function residuals(histogram) {
  const { edges, counts } = histogram;
  const high = Math.max(...counts);
  const values = { low: number(below(histogram, 0.25)), high: number(below(histogram, 0.75)) };
  return plot({
    title: text('picture.residuals'),
    caption: text('caption.residuals', values),
    x: { range: span(edges), label: text('axis.residual') },
    y: { range: [0, high * 1.05], label: text('axis.rows') },
    paint(drawing, sx, sy) {
      counts.forEach((count, i) => {
        const [from, to] = [sx(edges[i]), sx(edges[i + 1])];
        const width = Math.max(1, to - from - 1);
        drawing.append(
          svg('rect', { class: 'tabular-bar', x: from, y: sy(count), width, height: sy(0) - sy(count) }),
        );
      });
      drawing.append(
        svg('path', {
          class: 'tabular-even',
          d: path([
            [sx(0), sy(0)],
            [sx(0), sy(high)],
          ]),
        }),
      );
    },
  });
}

export function confusion({ labels, others, confusion: rows, from }) {
  const names = [...labels.map(String), ...(others ? [text('others')] : [])];
  const all = rows.flat().reduce((sum, one) => sum + one, 0);
  const right = labels.reduce((sum, _, k) => sum + rows[k][k], 0);
  const cell = (count, k, j) => {
    const of = rows[k].reduce((sum, one) => sum + one, 0);
    const depth = of > 0 ? Math.round((count / of) * 42) : 0;
    return el(
      'td',
      { class: k === j ? 'tabular-right' : 'tabular-wrong', style: `--depth: ${depth}%` },
      number(count),
    );
  };
  const head = (name, scope) => el('th', { scope, title: name }, bdi(name));
  return el(
    'figure',
    { class: names.length > ROOM ? 'tabular-wide' : '' },
    el('div', { class: 'tabular-figure-name' }, text('picture.confusion')),
    el(
      'div',
      { class: 'tabular-scroll', tabindex: 0, role: 'region', 'aria-label': text('picture.confusion') },
      el(
        'table',
        { class: 'tabular-confusion' },
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col' }, text('axis.trueLabel')),
            names.map((name) => head(name, 'col')),
          ),
        ),
        el(
          'tbody',
          {},
          rows.map((row, k) =>
            el(
              'tr',
              {},
              head(names[k], 'row'),
              row.map((count, j) => cell(count, k, j)),
            ),
          ),
        ),
      ),
    ),
    el(
      'figcaption',
      {},
      from === undefined ? '' : `${text('caption.answeredFrom', { at: percent(from) })} `,
      text('caption.confusion', { right: number(right), rows: number(all), part: percent(right / all) }),
    ),
  );
}

/* Neighbouring dots of few rows as one: whether two rows came true says nothing of a probability. */
function ofEnoughRows({ probability, share, rows }) {
  const dots = [];
  rows.forEach((count, i) => {
    const last = dots.at(-1);
    if (last === undefined || last.count >= LEAST_ROWS) {
      dots.push({ count, said: count * probability[i], came: count * share[i] });
      return;
    }
    last.count += count;
    last.said += count * probability[i];
    last.came += count * share[i];
  });
  if (dots.length > 1 && dots.at(-1).count < LEAST_ROWS) {
    const { count, said, came } = dots.pop();
    const last = dots.at(-1);
    last.count += count;
    last.said += said;
    last.came += came;
  }
  return {
    probability: dots.map(({ count, said }) => said / count),
    share: dots.map(({ count, came }) => came / count),
    rows: dots.map(({ count }) => count),
  };
}

export function calibration(curves, positive) {
  const { probability, share, rows } = ofEnoughRows(curves.calibration);
  const worst = probability.reduce(
    (best, p, i) =>
      Math.abs(p - share[i]) * Math.sqrt(rows[i]) >
      Math.abs(probability[best] - share[best]) * Math.sqrt(rows[best])
        ? i
        : best,
    0,
  );
  const most = Math.max(...rows);
  const values = {
    said: percent(probability[worst]),
    came: percent(share[worst]),
    rows: number(rows[worst]),
  };
  const title =
    positive === undefined ? text('picture.calibration') : text('picture.calibrationOf', { label: positive });
  if (rows.length === 1) {
    // One dot is no picture.
    const said = el('figcaption', {}, text('caption.calibrated', values));
    return el('figure', {}, el('div', { class: 'tabular-figure-name' }, title), said);
  }
  return plot({
    title,
    caption: text('caption.calibration', values),
    x: { range: [0, 1], label: text('axis.said'), format: percent },
    y: { range: [0, 1], label: text('axis.came'), format: percent },
    square: true,
    paint(drawing, sx, sy) {
      const points = probability.map((p, i) => [sx(p), sy(share[i])]);
      drawing.append(
        svg('path', {
          class: 'tabular-even',
          d: path([
            [sx(0), sy(0)],
            [sx(1), sy(1)],
          ]),
        }),
        svg('path', { class: 'tabular-line', d: path(points) }),
        ...points.map(([cx, cy], i) =>
          svg('circle', { class: 'tabular-point', cx, cy, r: 2 + 4 * Math.sqrt(rows[i] / most) }),
        ),
      );
    },
  });
}

/* Lines over the same steps; `steady` is a level to compare with. */
export function losses(values, promised, measure) {
  const shown = Number.isFinite(promised) ? [promised] : [];
  const [low, high] = span(values, shown);
  const now = values.at(-1);
  return plot({
    title: text('picture.losses', { measure: text(`score.${measure}`) }),
    caption: text(shown.length ? 'caption.losses' : 'caption.lossesAlone', {
      now: number(now),
      promised: number(promised),
    }),
    x: { range: [0, Math.max(1, values.length - 1)], label: text('axis.newest'), ticks: () => [] },
    y: { range: [Math.min(low, 0) === low ? low : Math.max(0, low), high], label: '' },
    paint(drawing, sx, sy) {
      drawing.append(
        ...shown.map((at) =>
          svg('path', {
            class: 'tabular-even',
            d: path([
              [sx(0), sy(at)],
              [sx(Math.max(1, values.length - 1)), sy(at)],
            ]),
          }),
        ),
        svg('path', { class: 'tabular-line', d: path(values.map((value, i) => [sx(i), sy(value)])) }),
      );
    },
  });
}

const DAY = 86_400_000;
/* Where the minute does not: two ends may be in the same one. */
const MINUTES = 180_000;
/* What tells the ends of so many milliseconds apart. */
export const styleOf = (length) =>
  length <= MINUTES ? 'second' : length <= DAY ? 'clock' : length <= 10 * DAY ? 'hour' : 'day';

/* Forecast and truth of one machine over time, with the band where there is one. */
export function recent(known) {
  const { key } = known.at(-1);
  const times = known.map((one) => Number(new Date(one.time)));
  const y = span(...['prediction', 'truth', 'low', 'high'].map((name) => known.map((one) => one[name])));
  const banded = known
    .map((one, i) => [one, times[i]])
    .filter(([one]) => Number.isFinite(one.low) && Number.isFinite(one.high));
  const told = known.filter(({ truth }) => Number.isFinite(truth));
  const inside = told.filter(({ truth, low, high }) => truth >= low && truth <= high).length;
  const range = span(times);
  return plot({
    title: key === undefined ? text('picture.recent') : text('picture.recentOf', { key }),
    caption:
      banded.length && told.length
        ? text('caption.recent', { inside: number(inside), rows: number(told.length) })
        : text('caption.recentAlone', { rows: number(known.length) }),
    x: {
      range,
      label: '',
      ticks: (width) =>
        width < 340 ? [times[0], times.at(-1)] : [times[0], (times[0] + times.at(-1)) / 2, times.at(-1)],
      format: (at) => time(at, styleOf(times.at(-1) - times[0])),
    },
    y: { range: y, label: '' },
    paint(drawing, sx, sy) {
      const upper = banded.map(([one, at]) => [sx(at), sy(one.high)]);
      const lower = banded.map(([one, at]) => [sx(at), sy(one.low)]).reverse();
      drawing.append(
        ...(upper.length > 1
          ? [svg('path', { class: 'tabular-area', d: `${path([...upper, ...lower])}Z` })]
          : []),
        svg('path', {
          class: 'tabular-line',
          d: path(known.map((one, i) => [sx(times[i]), sy(one.prediction)])),
        }),
        ...told.map((one) =>
          svg('circle', {
            class: 'tabular-truth',
            cx: sx(Number(new Date(one.time))),
            cy: sy(one.truth),
            r: 2,
          }),
        ),
      );
    },
  });
}

/* Names with a bar each; `shown` writes the value, `whole` is what fills the bar. */
export function bars(entries, shown, whole) {
  const most = whole || Math.max(...entries.map(([, value]) => Math.abs(value)), 1e-12);
  return el(
    'ul',
    { class: 'tabular-bars' },
    entries.map(([name, value]) =>
      el(
        'li',
        {},
        el('span', { class: 'tabular-bar-name', title: name }, bdi(name)),
        el('span', { class: 'tabular-bar-value' }, shown(value)),
        el('span', {
          class: value < 0 ? 'tabular-track tabular-less' : 'tabular-track',
          style: `--part: ${(Math.abs(value) / most) * 100}%`,
          'aria-hidden': 'true',
        }),
      ),
    ),
  );
}
