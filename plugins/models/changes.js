import { el, number, period, text, time } from './dom';

/*
 * What happened to a watched model or a machine: alarms with their end and their causes, and what became of it. An alarm
 * may name its end itself (`until`), or is followed by a change that clears it.
 */

/* At once; the others unfold. */
const SHOWN = 4;

const isOfModel = ({ what }) => what !== 'alarm' && what !== 'cleared' && what !== 'moved';
const startOf = ({ since }) => Number(new Date(since));

/* An alarm and its end as one, the newest first. */
function paired(changes) {
  const raised = new Map();
  const all = [];
  for (const change of [...changes].sort((a, b) => startOf(a) - startOf(b))) {
    const { what, id, key, ahead, since } = change;
    const place = `${key} ${ahead}`;
    const alarm = what === 'cleared' && raised.get(place);
    if (alarm) {
      alarm.until = since;
      raised.delete(place);
      continue;
    }
    const entry = { ...change };
    if (what === 'moved') {
      entry.isActive = true;
    } else if (what === 'alarm' && id !== undefined) {
      entry.isActive = change.until === undefined;
    } else if (what === 'alarm') {
      raised.set(place, entry);
    }
    all.push(entry);
  }
  for (const alarm of raised.values()) {
    alarm.isActive = true;
  }
  return all.reverse();
}

/* What was unfolded or folded stays so while new numbers come. */
const folds = new Map();
function fold(key, open, title, ...children) {
  const part = el(
    'details',
    { class: 'tabular-fold', open: folds.get(key) ?? open },
    el('summary', { 'data-keep': `fold-${key}` }, title),
    ...children,
  );
  part.addEventListener('toggle', () => (part.open === open ? folds.delete(key) : folds.set(key, part.open)));
  return part;
}

function when({ since, until, isActive }) {
  if (until !== undefined) {
    return period(since, until);
  }
  return isActive ? text('live.since', { time: time(since) }) : time(since);
}

function line(model, change, isNewestAlarm, answers) {
  const { what, key, ahead, since, isActive, text: said, causes = [] } = change;
  return el(
    'li',
    { class: isActive && 'tabular-active' },
    el('time', {}, when(change)),
    ' ',
    el('span', {}, said || what),
    causes.length === 0
      ? ''
      : fold(
          `${model} ${key} ${ahead} ${since}`,
          isNewestAlarm,
          text('live.why'),
          el(
            'ul',
            {},
            causes.map((one) => el('li', {}, one.text)),
          ),
        ),
    answers && (what === 'alarm' || what === 'moved') ? answers(change) : '',
  );
}

function drawChanges(model, changes, answers) {
  const all = paired(changes);
  if (all.length === 0) {
    return [];
  }
  // Many alarms do not hide what became of the model.
  const alarms = all.filter((one) => !isOfModel(one));
  const ofModel = all.filter(isOfModel).slice(0, Math.max(SHOWN / 2, SHOWN - alarms.length));
  const first = new Set([...ofModel, ...alarms.slice(0, SHOWN - ofModel.length)]);
  const list = (some) =>
    el(
      'ul',
      { class: 'tabular-changes' },
      some.map((one) => line(model, one, one === alarms[0], answers)),
    );
  const rest = all.filter((one) => !first.has(one));
  return [
    el('h4', {}, text('live.changes')),
    list(all.filter((one) => first.has(one))),
    rest.length === 0
      ? ''
      : fold(`${model} rest`, false, text('live.rest', { count: number(rest.length) }), list(rest)),
  ];
}

/*
 * The place of what happened to a model, and what shows it there: what has the focus keeps it. `answers` makes what
 * stands under an alarm or a sensor that has moved.
 */
export function changesView(model, answers) {
  const root = el('div', {});
  let told = '';
  function show(changes = []) {
    const next = JSON.stringify(changes);
    if (next === told) {
      return;
    }
    told = next;
    const { activeElement } = document;
    const { keep } = root.contains(activeElement) ? activeElement.dataset : {};
    root.replaceChildren(...drawChanges(model, changes, answers).filter(Boolean));
    [...root.querySelectorAll('[data-keep]')].find((one) => one.dataset.keep === keep)?.focus();
  }
  return { root, show };
}
