import { changesView } from './changes';
import { bdi, brief, causeList, columnName, duration, el, number, percent, section, text } from './dom';
import * as pictures from './pictures';

/* The live part of an opened model: what a node watch knows of it. */

const SHOWN_CHANGES = 6;

const tile = (name, value, ...beside) =>
  el(
    'div',
    {},
    el('dt', {}, name),
    el(
      'dd',
      {},
      el('b', {}, value),
      beside.map((one) => el('small', {}, one)),
    ),
  );

/* Why there are no numbers yet. */
function unmet({ open = 0, unmet: early = 0 } = {}) {
  if (open > 0 && early > 0) {
    return text('live.unmatched', { early: number(early), open: number(open) });
  }
  return open > 0 ? text('live.waiting', { open: number(open) }) : text('live.noOutcomes');
}

/* The rows that the promise is of, and how many of them are of a rare label. */
function restsOn({ rows, events }) {
  const isRare = events > 0 && events * 3 <= rows;
  return rows
    ? text(isRare ? 'live.restsFew' : 'live.rests', { rows: number(rows), events: number(events) })
    : '';
}

function tiles({ live = {}, coverage, widen, isNew, version, counts, unsure }, { scores = {} }) {
  const { measure = 'mae', rows, loss, promised, now } = live;
  const shown = [];
  if (Number.isFinite(loss)) {
    const beside = [
      Number.isFinite(promised) ? text('live.promised', { value: number(promised) }) : '',
      promised > 0 && loss > promised ? text('live.times', { ratio: number(loss / promised) }) : '',
      Number.isFinite(now) ? text('live.now', { value: number(now) }) : '',
    ].filter(Boolean);
    shown.push(tile(text(`score.${measure}`), brief(loss), ...beside));
  }
  if (coverage && Number.isFinite(coverage.held)) {
    // Of labels there is no band: how often the model was right, and how sure it was.
    const isBand = measure === 'mae';
    const promise = { value: percent(coverage.told) };
    shown.push(
      tile(
        isBand ? text('live.coverage') : text('live.right'),
        percent(coverage.held),
        text(isBand ? 'live.promised' : 'live.sure', promise),
      ),
    );
  }
  if (Number.isFinite(widen)) {
    shown.push(tile(text('live.widen'), `× ${number(widen)}`, text('live.own')));
  }
  return [
    el('dl', { class: 'tabular-tiles' }, shown),
    el(
      'p',
      { class: 'tabular-hint' },
      rows ? text('live.rows', { rows: number(rows) }) : unmet(counts),
      isNew ? ` ${text('live.before', { version: number(version) })}` : '',
      Number.isFinite(promised) && rows && !isNew ? ` ${restsOn(scores)}` : '',
    ),
    unsure && !isNew ? el('p', { class: 'tabular-note' }, text('live.unsure')) : '',
  ];
}

/* Machines with a score of their own, those that have become worse first. */
function drawKeys({ keys = [], live: { measure = 'mae' } = {} }) {
  const scored = keys.filter(({ live }) => Number.isFinite((live || {}).loss));
  if (scored.length < 2) {
    return [];
  }
  return [
    el('h4', {}, text('live.keys', { measure: text(`score.${measure}`) })),
    el(
      'ul',
      { class: 'tabular-changes' },
      scored
        .slice(0, SHOWN_CHANGES)
        .map(({ key, live: { loss, promised }, decayed }) =>
          el(
            'li',
            {},
            el('span', {}, bdi(key), ': ', number(loss)),
            ' ',
            el(
              'small',
              {},
              [
                Number.isFinite(promised) ? text('live.promised', { value: number(promised) }) : '',
                decayed ? text('live.decayed') : '',
              ]
                .filter(Boolean)
                .join(' · '),
            ),
          ),
        ),
    ),
  ];
}

/* What there is more of than in the train set. */
function movedText({ to, value, now, usual } = {}) {
  return to
    ? text(`live.moved.${to}`, {
        value: Number.isFinite(value) ? number(value) : value,
        now: percent(now),
        usual: percent(usual),
      })
    : '';
}

function drawDrift(drift = [], columns) {
  const beyond = drift
    .filter(({ psi, threshold }) => psi > threshold)
    .sort((a, b) => b.psi / b.threshold - a.psi / a.threshold);
  if (beyond.length === 0) {
    return [];
  }
  return [
    el('h4', {}, text('live.drift')),
    el(
      'ul',
      { class: 'tabular-changes' },
      beyond
        .slice(0, SHOWN_CHANGES)
        .map(({ column, moved }) =>
          el('li', {}, bdi(columnName(column, columns)), ' ', el('small', {}, movedText(moved))),
        ),
    ),
  ];
}

function drawCauses(causes, card) {
  const list = Array.isArray(causes) ? causes.filter((one) => one && (one.text || one.column)) : [];
  return list.length === 0 ? [] : [el('h4', {}, text('live.causes')), ...causeList(list, card)];
}

/* The machine and the step ahead that were chosen last, by model. */
const chosen = new Map();

/* A list to choose from, where there is more than one. It stays as it is while what it offers does. */
function chooser(name, onchange) {
  const select = el('select', { 'aria-label': name, onchange: () => onchange(select.value) });
  let offered = '';
  return {
    select,
    offer(values, value, said) {
      const next = JSON.stringify(values);
      if (next !== offered) {
        offered = next;
        select.replaceChildren(...values.map((one) => el('option', { value: String(one) }, said(one))));
      }
      select.value = String(value);
      select.hidden = values.length < 2;
    },
  };
}

/* Predictions beside their outcomes: of the machine and the step ahead that are chosen, at first those heard of last. */
function recentPicture(name) {
  let rows = [];
  const take = (part) => (value) => {
    chosen.set(name, { ...chosen.get(name), [part]: value });
    draw();
  };
  const keys = chooser(text('live.key'), take('key'));
  const steps = chooser(text('live.step'), take('ahead'));
  const row = el('div', { class: 'tabular-chooser' }, keys.select, steps.select);
  const root = el('div', { class: 'tabular-chosen-of' }, row, el('figure', {}));
  const valuesOf = (list, part) =>
    [...new Set(list.map((one) => one[part]))].filter((one) => one !== undefined);
  /* What was chosen, while there is such; else, from now on, what is newest. */
  function choice(list, part, values) {
    const known = values.find((one) => String(one) === (chosen.get(name) || {})[part]);
    const value = known ?? (part === 'key' ? list.at(-1).key : values[0]);
    chosen.set(name, { ...chosen.get(name), [part]: String(value) });
    return value;
  }
  function draw() {
    const machines = valuesOf(rows, 'key').sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    const key = choice(rows, 'key', machines);
    const own = rows.filter((one) => one.key === key);
    const aheads = valuesOf(own, 'ahead').sort((a, b) => a - b);
    const ahead = choice(own, 'ahead', aheads);
    keys.offer(machines, key, String);
    steps.offer(aheads, ahead, (one) => text('live.ahead', { time: duration(one) }));
    row.hidden = keys.select.hidden && steps.select.hidden;
    root.lastChild.replaceWith(pictures.recent(own.filter((one) => one.ahead === ahead)));
  }
  return {
    root,
    show(recent) {
      rows = recent;
      draw();
    },
  };
}

/*
 * The place of the live part, and what shows there what the node watch knows: undefined where none watches this model.
 * What somebody may be choosing from stays where it is.
 */
export function liveView(card) {
  const root = el('div', { class: 'tabular-live-part' });
  const numbers = el('div', { class: 'tabular-live-numbers' });
  const figures = el('div', { class: 'tabular-figures' });
  const machines = el('div', {});
  const changes = changesView(card.name);
  const more = el('div', { class: 'tabular-live-more' });
  const part = section('live', [numbers, changes.root, figures, machines, more]);
  const picture = recentPicture(card.name);
  function show(watch) {
    if (!watch) {
      root.replaceChildren(el('p', { class: 'tabular-hint tabular-unwatched' }, text('live.none')));
      return;
    }
    const { losses = [], recent = [], live = {} } = watch;
    const points = losses.filter(Number.isFinite);
    const shown = recent.filter(({ prediction }) => Number.isFinite(prediction));
    if (part.parentNode !== root) {
      root.replaceChildren(part);
    }
    numbers.replaceChildren(...tiles(watch, card).filter(Boolean));
    if (shown.length < 2) {
      figures.replaceChildren();
    } else if (picture.root.parentNode !== figures) {
      figures.replaceChildren(picture.root);
    }
    if (shown.length > 1) {
      picture.show(shown);
    }
    figures.querySelector(':scope > figure')?.remove();
    if (points.length > 1) {
      figures.append(pictures.losses(points, live.promised, live.measure || 'mae'));
    }
    machines.replaceChildren(...drawKeys(watch).filter(Boolean));
    changes.show(watch.changes);
    more.replaceChildren(
      ...[drawCauses(watch.causes, card), drawDrift(watch.drift, card.columns)].flat(2).filter(Boolean),
    );
  }
  return { root, show };
}
