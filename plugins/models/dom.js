import { isLessNow } from '../../src/series/column-names';

/* What the sidebar Models is made of: elements, words, numbers. Names of models are data: they are only ever set as text. */

const CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-models:';
const SVG = 'http://www.w3.org/2000/svg';

/* A word of the catalogue. Values are set here: what a name holds is not read as a pattern of the catalogue. */
export function text(key, values = {}) {
  return RED._(CATALOGUE + key).replace(/__(\w+)__/g, (mark, name) =>
    Object.hasOwn(values, name) ? String(values[name]) : mark,
  );
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? '' : value);
    }
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== ''));
  return node;
}

/* An element; `onclick` and the like are listeners, children are elements and texts. */
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/* A name, which may be of any script and direction. */
export const bdi = (name) => el('bdi', {}, String(name));
/*
 * The name of a column. What a series node tells less the current value of its sensor has that in its name; it is the
 * same where there is no column of the sensor.
 */
export const columnName = (name, columns = []) =>
  isLessNow(
    name,
    columns.map((one) => one.name),
  )
    ? `${name} - now`
    : name;
export const icon = (name) => el('i', { class: `fa fa-${name}`, 'aria-hidden': 'true' });

const formats = new Map();
function format(value, options, Format = Intl.NumberFormat) {
  const key = Format.name + JSON.stringify(options);
  if (!formats.has(key)) {
    formats.set(key, new Format(text('language'), options));
  }
  return formats.get(key).format(value);
}

/* Three digits that tell something, and all digits of a whole number. */
export function number(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  const isLong = Number.isInteger(value) || Math.abs(value) >= 1000;
  const isOdd = value !== 0 && (Math.abs(value) < 1e-6 || Math.abs(value) >= 1e9);
  return format(
    value,
    isOdd
      ? { notation: 'scientific', maximumSignificantDigits: 3 }
      : isLong
        ? { maximumFractionDigits: 0 }
        : { maximumSignificantDigits: 3 },
  );
}

/* The same where there is little room: `1.23M`; in German `1,23 Mio.`, which may break. */
export function brief(value) {
  return Math.abs(value) >= 1e5 && Math.abs(value) < 1e9
    ? format(value, { notation: 'compact', maximumSignificantDigits: 3 }).replace('\u00a0', ' ')
    : number(value);
}

/* Of a part of 1; rare things keep a digit, and what is nearly all or nothing is not told as all or nothing. */
export function percent(part) {
  const isFine = part > 0 && part < 1 && (part < 0.1 || part > 0.99);
  const digits = isFine ? -Math.floor(Math.log10(Math.min(part, 1 - part))) - 2 : 0;
  return Number.isFinite(part)
    ? format(part, {
        style: 'percent',
        maximumFractionDigits: isFine ? Math.min(Math.max(digits, 1), 6) : 0,
      })
    : '–';
}

/* R² and the like: three decimals, more where they would make 1 of what is below. How bad it is far below 0 is no matter. */
export function ofOne(value) {
  if (value < -999) {
    return `<\u00a0${number(-999)}`;
  }
  const isNear = value < 1 && value >= 0.9995;
  return Number.isFinite(value)
    ? format(value, {
        maximumFractionDigits: isNear ? Math.min(8, -Math.floor(Math.log10(1 - value))) : 3,
      })
    : '–';
}

const DAY = { month: 'short', day: 'numeric' };
const TIMES = {
  second: { timeStyle: 'medium' },
  clock: { timeStyle: 'short' },
  hour: { ...DAY, hour: 'numeric' },
  day: DAY,
};
export function time(value, style = 'short') {
  const date = new Date(value);
  const options = TIMES[style] || { dateStyle: style, timeStyle: 'short' };
  return Number.isNaN(date.getTime()) ? '' : format(date, options, Intl.DateTimeFormat);
}

/* From one time to another, without saying twice what both have in common. */
export function period(from, to, options = { dateStyle: 'short', timeStyle: 'short' }) {
  const [start, end] = [new Date(from), new Date(to)];
  return Number.isNaN(start - end)
    ? time(from)
    : new Intl.DateTimeFormat(text('language'), options).formatRange(start, end);
}

export const UNITS = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };

/* The largest unit that all of these milliseconds are whole of. */
export const unitOf = (...all) =>
  Object.keys(UNITS).find((unit) => all.every((ms) => ms % UNITS[unit] === 0)) || 'second';
const inUnit = (value, unit) => [value, { style: 'unit', unit, unitDisplay: 'short' }];

export function duration(ms, unit = unitOf(ms)) {
  return format(...inUnit(ms / UNITS[unit], unit));
}

/* As it stands behind a number: `hr`, `Std.`. */
export function unitName(unit) {
  const [value, options] = inUnit(2, unit);
  const parts = new Intl.NumberFormat(text('language'), options).formatToParts(value);
  return parts.find(({ type }) => type === 'unit').value;
}

/*
 * A small button. @param keep names it, so that it has the focus again when what it stands in is drawn anew; `more`:
 * further attributes
 */
export const smallButton = (keep, label, onclick, { class: also = '', ...more } = {}) =>
  el(
    'button',
    {
      type: 'button',
      class: `red-ui-button red-ui-button-small ${also}`.trim(),
      ...{ 'data-keep': keep, onclick, ...more },
    },
    label,
  );

/* Behind the first entries of a list: the button that shows the rest, or nothing. */
export const moreButton = (rest, keep, onclick) =>
  rest > 0 ? [smallButton(keep, text('try.more', { more: number(rest) }), onclick)] : [];

/* A part of the sidebar that folds. What was opened or closed stays so. */
const folded = new Map();
export function section(key, children, open = true) {
  const part = el(
    'details',
    { class: 'tabular-part', open: folded.get(key) ?? open, 'data-part': key },
    el('summary', { 'data-keep': `part-${key}` }, el('h3', {}, text(`part.${key}`))),
    ...children,
  );
  part.addEventListener('toggle', () => folded.set(key, part.open));
  return part;
}

/* How something stands: a shape goes with each colour. @param stands `good`, `odd`, `bad` or `unknown`, and why in words */
export const mark = ({ is, why }) =>
  el('span', { class: `tabular-mark tabular-${is}`, role: 'img', 'aria-label': why, title: why });

/* How an opened model stands, in words. */
export const verdict = ({ is, why }) => el('p', { class: `tabular-verdict tabular-is-${is}` }, why);

/* An entry of the list. @param of ids of the service or node and of what is in it, its name and how it stands */
export const listEntry = ({ of: [service, model], name, stands }, open, ...about) =>
  el(
    'li',
    {},
    el(
      'button',
      {
        type: 'button',
        class: 'tabular-model',
        ...{ 'data-service': service, 'data-model': model },
        title: name,
        onclick: open,
      },
      mark(stands),
      el('span', { class: 'tabular-name' }, bdi(name)),
      ...about,
    ),
  );

/* Sentences of causes; of two labels with a word about which of them they speak of, as `predict` chooses it. */
export function causeList(said, { task, classes = [], thresholds } = {}) {
  const hasTwo = task === 'classification' && classes.length === 2;
  const about = thresholds
    ? text('causes.rarer', { label: thresholds.label })
    : text('causes.second', { label: classes[1] });
  return [
    el(
      'ul',
      { class: 'tabular-changes' },
      said.map((one) => el('li', {}, one.text || bdi(one.column))),
    ),
    hasTwo ? el('p', { class: 'tabular-hint' }, about) : '',
  ];
}

/* What the pointer holds down. If it moves or is replaced before the release, the click is lost. */
let pressed = null;
let later = [];
document.addEventListener('pointerdown', ({ target }) => {
  // Of what is no control the release may not be told, as of a scroll bar.
  pressed = target.closest('.tabular-body :is(button, summary, input)');
});
const released = () =>
  // The click comes first.
  setTimeout(() => {
    pressed = null;
    const due = later;
    later = [];
    due.forEach((change) => change());
  });
['pointerup', 'pointercancel'].forEach((event) => document.addEventListener(event, released));

/* Changes what is shown: at once, or on release where one of these controls is held down. */
export function whenReleased(change, controls = 'button, summary, input') {
  if (pressed?.matches(controls)) {
    later.push(change);
  } else {
    change();
  }
}
