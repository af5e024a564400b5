import { isLeaving, whileThere } from './actions';
import { findSetting } from './advise';
import {
  bdi,
  causeList,
  columnName,
  duration,
  el,
  moreButton,
  number,
  percent,
  section,
  text,
  unitName,
  unitOf,
  UNITS,
  whenReleased,
} from './dom';
import * as pictures from './pictures';

/* Try it: a row of the train set to change, and what the model says of it. */

const PAUSE_MS = 250;
const FIRST_FIELDS = 6;
const MANY = 5;

function kindOf({ type, usual }) {
  if (usual && usual.kind === 'category' && usual.complete) {
    return 'choice';
  }
  return usual && usual.kind === 'number' && type !== 'date' ? 'number' : 'text';
}

/* The unit of how far a row of a series node looks ahead, which it holds in milliseconds; undefined of all else. */
function stepUnit({ name, usual }) {
  const isStep = name === 'ahead' && usual.kind === 'number' && usual.q05 >= 1000;
  const ends = [usual.q05, usual.q95];
  return isStep && ends.every((ms) => ms % 1000 === 0) ? unitOf(...ends) : undefined;
}

/* A step fine enough for a slider of about two hundred places. */
function stepOf({ type }, low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 100 || 1));
  return type === 'integer' || type === 'bigint' ? Math.max(1, Math.round(step)) : step;
}

/* Six digits, so that 16.559631302999 fits its field; the row keeps its own value until it is changed. */
function shown(value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : (value ?? '');
}

function numberField(field, id, row, changed) {
  const { name, label, usual } = field;
  const unit = stepUnit(field);
  const scale = unit === undefined ? 1 : UNITS[unit];
  const own = (value) => (typeof value === 'number' ? value / scale : value);
  const [low, high] = [own(usual.q05), own(usual.q95)];
  const typed = el('input', {
    type: 'number',
    step: 'any',
    id,
    value: shown(own(row[name])),
    placeholder: text('try.missing'),
  });
  const hasRoom = high > low;
  const slider =
    hasRoom &&
    el('input', {
      type: 'range',
      min: low,
      max: high,
      step: unit === undefined ? stepOf(field, low, high) : 1,
      value: own(row[name] ?? usual.median),
      'aria-label': label,
      'aria-describedby': `${id}-usual`,
    });
  const take = (value) => {
    row[name] = value === '' ? null : Number(value) * scale;
    changed();
  };
  typed.addEventListener('input', () => {
    if (slider && typed.value !== '') {
      slider.value = typed.value;
    }
    take(typed.value);
  });
  if (slider) {
    slider.addEventListener('input', () => {
      typed.value = slider.value;
      take(slider.value);
    });
  }
  const said = (value) => (unit === undefined ? number(value) : duration(value, unit));
  const hint = text('try.usually', { low: said(usual.q10), high: said(usual.q90) });
  return [typed, ...(slider ? [slider] : []), el('small', { id: `${id}-usual` }, hint)];
}

function choiceField({ name, usual, type }, id, row, changed) {
  const options = usual.categories
    .slice(0, 200)
    .map((one, i) => el('option', { value: i, selected: String(row[name]) === String(one) }, String(one)));
  const isKnown = usual.categories.some((one) => String(one) === String(row[name]));
  const missing = el('option', { value: '', selected: !isKnown }, text('try.missing'));
  return [
    el(
      'select',
      {
        id,
        'data-type': type,
        onchange(event) {
          row[name] = event.target.value === '' ? null : usual.categories[event.target.value];
          changed();
        },
      },
      missing,
      options,
    ),
  ];
}

function textField({ name, type }, id, row, changed) {
  const input = el('input', {
    type: 'text',
    id,
    value: row[name] ?? '',
    placeholder: type === 'date' ? 'YYYY-MM-DDThh:mm' : text('try.missing'),
    oninput(event) {
      row[name] = event.target.value === '' ? null : event.target.value;
      changed();
    },
  });
  return [input];
}

let made = 0;
function drawField(field, row, changed) {
  const id = `tabular-try-${made++}`;
  const kind = kindOf(field);
  const make = { number: numberField, choice: choiceField }[kind] || textField;
  const unit = kind === 'number' && stepUnit(field);
  return el(
    'div',
    { class: 'tabular-field-row' },
    el('label', { for: id, title: field.label }, bdi(field.label), unit ? ` (${unitName(unit)})` : ''),
    ...make(field, id, row, changed),
  );
}

/* The label that predict nodes answer where a threshold was chosen; without one it is the first of the bars. */
function decided({ threshold }, prediction) {
  const { label, at } = threshold || {};
  const said = (prediction || {})[label];
  if (at === undefined || said === undefined) {
    return '';
  }
  const other = Object.keys(prediction).find((one) => one !== String(label));
  return el('p', { class: 'tabular-hint' }, text('try.answered'), ' ', bdi(said >= at ? label : other));
}

/* Classes: a bar each. Numbers: the middle, with the band from 10 to 90 %. */
function drawAnswer({ task, target, threshold }, { prediction }) {
  if (task === 'classification') {
    const all = Object.entries(prediction || {}).sort((a, b) => b[1] - a[1]);
    return [pictures.bars(all.slice(0, MANY), percent, 1), decided({ threshold }, prediction)];
  }
  const [low, middle, high] = Object.entries(prediction || {})
    .sort((a, b) => a[0] - b[0])
    .map(([, value]) => value);
  return [
    el(
      'p',
      { class: 'tabular-answer-number' },
      el('span', {}, bdi(target)),
      el('b', {}, number(middle)),
      el('small', {}, text('try.band', { low: number(low), high: number(high) })),
    ),
  ];
}

function drawWhy(card, { why }) {
  const causes = Array.isArray(why) ? why.filter((one) => one && one.text) : [];
  return causes.length === 0 ? [] : [el('h4', {}, text('try.why')), ...causeList(causes, card)];
}

/* @param service id of the service; asked again only when the row was changed or `Predict` was pressed */
export function tryIt(service, { card, kind, fields, examples }) {
  const columns = fields.map((one) => ({ ...one, label: columnName(one.name, card.columns) }));
  if (columns.length === 0 || card.dead) {
    return '';
  }
  const isFree = kind === 'embedded';
  const row = {};
  const answer = el('div', { class: 'tabular-answer', role: 'status', 'aria-live': 'polite' });
  // It does not stay in view as the answer does: it would leave no room for the form.
  const why = el('div', { 'aria-live': 'polite' });
  const form = el('div', { class: 'tabular-form-rows' });
  let example = 0;
  let asked = 0;
  let timer;
  let part;

  function ask() {
    const mine = ++asked;
    answer.classList.add('tabular-busy');
    // A slider is held down while its answers are looked at.
    const shows = (show) => (answered) =>
      whenReleased(() => mine === asked && show(answered), 'button, summary');
    const request = $.ajax({
      url: `tabular-prediction/sidebar/${encodeURIComponent(service)}/try`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify({ model: card.name, row }),
    });
    (isFree ? whileThere(request) : request)
      .done(
        shows((found) => {
          answer.replaceChildren(...drawAnswer(card, found));
          why.replaceChildren(...drawWhy(card, found).flat().filter(Boolean));
        }),
      )
      .fail(
        shows(({ status, responseJSON }) => {
          const { message } = responseJSON || {};
          why.replaceChildren();
          answer.replaceChildren(
            el(
              'p',
              { class: 'tabular-note' },
              message || text(status === 401 || status === 403 ? 'failed.rights' : 'failed.away'),
            ),
          );
        }),
      )
      .always(() => mine === asked && answer.classList.remove('tabular-busy'));
  }

  const changed = () => {
    if (isFree) {
      clearTimeout(timer);
      // By then another model may be opened, or this one be about to go.
      timer = setTimeout(() => part.isConnected && !isLeaving() && ask(), PAUSE_MS);
    }
  };

  function show(all) {
    const shown = columns.slice(0, all ? columns.length : FIRST_FIELDS);
    const rest = columns.length - shown.length;
    form.replaceChildren(
      ...shown.map((field) => drawField(field, row, changed)),
      ...moreButton(rest, 'try-more', () => {
        show(true);
        form.children[FIRST_FIELDS]?.querySelector('input, select')?.focus();
      }),
    );
    form.dataset.all = String(Boolean(all));
  }

  function start() {
    const usual = Object.fromEntries(
      columns.map(({ name, usual: one }) => [
        name,
        one ? (one.kind === 'number' ? one.median : (one.categories[0] ?? null)) : null,
      ]),
    );
    Object.assign(row, examples.length > 0 ? examples[example++ % examples.length] : usual);
    show(form.dataset.all === 'true');
    changed();
  }

  const buttons = el(
    'div',
    { class: 'tabular-buttons' },
    examples.length > 1
      ? el(
          'button',
          { type: 'button', class: 'red-ui-button red-ui-button-small', onclick: start },
          text('try.another'),
        )
      : '',
    isFree
      ? ''
      : el(
          'button',
          { type: 'button', class: 'red-ui-button red-ui-button-small primary', onclick: ask },
          text('try.ask'),
        ),
  );
  const hint = text(isFree ? 'try.hint' : 'try.hintPaid');
  // Nothing is asked until somebody opens it.
  let isStarted = false;
  // How far a row looks ahead is nothing that a machine is set to.
  const settable = columns.filter((one) => !one.usual || stepUnit(one) === undefined);
  const find = findSetting(service, { card, kind }, settable, {
    rowNow: () => row,
    take(set) {
      Object.assign(row, set);
      show(form.dataset.all === 'true');
      ask();
    },
  });
  const parts = [el('p', { class: 'tabular-hint' }, hint), answer, why, form, buttons, find];
  part = section('try', parts, false);
  const begin = () => {
    if (part.open && !isStarted) {
      isStarted = true;
      start();
    }
  };
  part.addEventListener('toggle', begin);
  begin();
  return part;
}
