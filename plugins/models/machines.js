import { movedText, unusualText } from '../../src/runtime/anomaly/texts';
import { inUsualUnit } from '../../src/runtime/status/in-words';
import { changesView } from './changes';
import { bdi, el, listEntry, number, period, section, smallButton, svg, text, time } from './dom';
import * as pictures from './pictures';

/* The machines of the anomaly nodes: what is known of each, its sensors within what was expected of them, its alarms. */

/* `6 days`: in the unit that people would use. */
function knownTime(ms) {
  const { unit, value, decimals } = inUsualUnit(ms);
  return new Intl.NumberFormat(text('language'), {
    ...{ style: 'unit', unit, unitDisplay: 'long' },
    maximumFractionDigits: decimals,
  }).format(value);
}

const nodeName = ({ id, name }) => name || text('machine.unnamed', { id });
export const machineName = (node, key) => (key === null ? nodeName(node) : key);

const learnedOf = ({ knows }) => text('machine.knows', { time: knownTime(knows) });

/* How a machine stands: `good`, `odd` or `unknown`, and why in words. */
export function machineStanding({ state, rows, needed, alarm, moved, asked }, learned) {
  if (alarm !== undefined) {
    return { is: 'bad', why: text('machine.alarm', { time: time(alarm) }) };
  }
  if (state === 'learning') {
    return { is: 'unknown', why: text('machine.learning', { rows: number(rows), of: number(needed) }) };
  }
  if (state === 'unusual' || state === 'new') {
    return { is: 'odd', why: text(`machine.${state}`) };
  }
  if (moved) {
    return { is: 'odd', why: text('machine.moved') };
  }
  return { is: 'good', why: `${learned}${asked ? `. ${text('machine.asks')}` : ''}` };
}

function line(node, machine, open) {
  const { key, alarm, state } = machine;
  const learned = learnedOf(machine);
  const stands = machineStanding(machine, learned);
  const isKnown = state !== 'learning' && stands.is !== 'good' && alarm === undefined;
  return listEntry(
    { of: [node.id, key ?? ''], name: machineName(node, key), stands },
    () => open(node, key),
    el('span', { class: 'tabular-about' }, alarm === undefined ? stands.why : learned),
    el('span', { class: 'tabular-live' }, isKnown ? learned : ''),
    alarm === undefined ? '' : el('span', { class: 'tabular-alarm' }, stands.why),
  );
}

const byKey = new Intl.Collator(undefined, { numeric: true });

/* The anomaly nodes with their machines. @param sought what a name must hold, in lower case */
export function machineList(nodes, sought, open) {
  const isWanted = (name) => name.toLocaleLowerCase().includes(sought);
  return nodes.flatMap((node) => {
    const name = nodeName(node);
    const shown = node.machines
      .filter(({ key }) => isWanted(name) || isWanted(machineName(node, key)))
      .sort((a, b) => byKey.compare(a.key ?? '', b.key ?? ''));
    if (shown.length === 0) {
      return node.machines.length === 0 && isWanted(name)
        ? [
            el('h3', { class: 'tabular-service' }, bdi(name)),
            el('p', { class: 'tabular-hint tabular-unread' }, text('machine.none')),
          ]
        : [];
    }
    return [
      el('h3', { class: 'tabular-service' }, shown[0].key === null ? text('machine.title') : bdi(name)),
      el(
        'ul',
        { 'aria-label': name },
        shown.map((machine) => line(node, machine, open)),
      ),
    ];
  });
}

/* The rows of a sensor within its band; rows that were off, and the starts of alarms, are marked. */
function sensorPicture({ column, rows, off }, times, changes) {
  const { value, expected, low, high } = rows;
  const lasted = times.at(-1) - times[0];
  const alarms = changes.filter(({ what, since }) => what === 'alarm' && since >= times[0]);
  const last = value.findLastIndex(Number.isFinite);
  const said = {
    value: number(value[last] ?? NaN),
    low: number(low[Math.max(last, 0)]),
    high: number(high[Math.max(last, 0)]),
    off: number(off),
  };
  return pictures.plot({
    title: column,
    caption: text(off > 0 ? 'machine.captionOff' : 'machine.caption', said),
    x: {
      range: pictures.span(times),
      label: '',
      ticks: (width) =>
        width < 340 ? [times[0], times.at(-1)] : [times[0], (times[0] + times.at(-1)) / 2, times.at(-1)],
      format: (at) => time(at, pictures.styleOf(lasted)),
    },
    y: { range: pictures.span(value, low, high), label: '' },
    low: true,
    paint(drawing, sx, sy) {
      // A missing value leaves a gap in the line.
      const lines = [[]];
      value.forEach((one, i) => {
        if (one === null) {
          lines.push([]);
        } else {
          lines.at(-1).push([sx(times[i]), sy(one)]);
        }
      });
      const upper = high.map((one, i) => [sx(times[i]), sy(one)]);
      const lower = low.map((one, i) => [sx(times[i]), sy(one)]).reverse();
      const top = sy(pictures.span(value, low, high)[1]);
      drawing.append(
        svg('path', { class: 'tabular-area', d: `${pictures.path([...upper, ...lower])}Z` }),
        svg('path', {
          class: 'tabular-even',
          d: pictures.path(expected.map((one, i) => [sx(times[i]), sy(one)])),
        }),
        ...lines
          .filter((one) => one.length > 0)
          .map((one) => svg('path', { class: 'tabular-line', d: pictures.path(one) })),
        ...rows.off
          .filter((i) => value[i] !== null)
          .map((i) => svg('circle', { class: 'tabular-off', cx: sx(times[i]), cy: sy(value[i]), r: 2.4 })),
        ...alarms.map(({ since }) => {
          const x = sx(since);
          return svg('path', {
            class: 'tabular-alarm-at',
            d: `M${x - 5} ${top - 6}L${x + 5} ${top - 6}L${x} ${top + 3}Z`,
          });
        }),
      );
    },
  });
}

const button = (key, label, pressed, onclick) =>
  smallButton(key, label, onclick, { 'aria-pressed': String(pressed) });

/* The sensors that have no picture: a name brings it. */
function otherSensors(sensors, show) {
  return el(
    'details',
    { class: 'tabular-fold' },
    el('summary', { 'data-keep': 'fold-sensors' }, text('machine.others', { count: number(sensors.length) })),
    el(
      'ul',
      { class: 'tabular-changes' },
      sensors.map(({ column, now }) =>
        el(
          'li',
          {},
          el(
            'button',
            {
              type: 'button',
              class: 'tabular-link',
              'data-keep': `sensor-${column}`,
              onclick: () => show(column),
            },
            bdi(column),
          ),
          ' ',
          el(
            'small',
            {},
            text('machine.now', { value: number(now.value), low: number(now.low), high: number(now.high) }),
          ),
        ),
      ),
    ),
  );
}

/* In the language of the editor. */
const saidOf = (one) =>
  one.said ? unusualText(RED, one.said) : one.by === undefined ? one.text : movedText(RED, one);

/*
 * The place of an opened machine. `act(what, data)` sends what a person says; `look(column)` asks for the picture of
 * another sensor. `show` is given what the runtime knows.
 */
export function machineView(node, { act, look }) {
  const verdict = el('p', { class: 'tabular-verdict' });
  const question = el('div', {});
  const progress = el('div', {});
  const figures = el('div', { class: 'tabular-figures' });
  const others = el('div', {});
  const answers = ({ what, id, answer }) =>
    el(
      'div',
      {
        class: 'tabular-buttons tabular-answers',
        role: 'group',
        'aria-label': text(what === 'moved' ? 'machine.answerMoved' : 'machine.answer'),
      },
      ['real', 'usual'].map((said) =>
        button(`${said} ${id}`, text(`machine.${said}`), answer === said, () =>
          act('confirm', { id, answer: said }),
        ),
      ),
    );
  const changes = changesView(`${node.id} machine`, answers);
  const noAlarms = el('p', { class: 'tabular-hint' }, text('machine.noAlarms'));
  const part = section('sensors', [progress, figures, others]);
  const alarms = section('alarms', [changes.root, noAlarms]);
  const root = el('div', { class: 'tabular-machine' }, verdict, question, alarms, part);

  function ask(periods) {
    question.replaceChildren(
      ...(periods.length === 0
        ? []
        : [
            el(
              'div',
              {
                class: 'tabular-note tabular-question',
                role: 'group',
                'aria-label': text('machine.question'),
              },
              el('b', {}, text('machine.question')),
              el(
                'ul',
                {},
                periods.map(({ start, end }) => el('li', {}, period(start, end))),
              ),
              el(
                'div',
                { class: 'tabular-buttons' },
                ['usual', 'faults'].map((answer) =>
                  button(`odd ${answer}`, text(`machine.odd.${answer}`), false, () => act('odd', { answer })),
                ),
              ),
            ),
          ]),
    );
  }

  let drawn = '';
  function show(machine) {
    const learned = learnedOf(machine);
    const { is, why } = machineStanding(machine, learned);
    const { state, times, sensors, periods, rows, needed } = machine;
    const happened = machine.changes.map((one) => ({ ...one, text: saidOf(one) }));
    const isLearning = state === 'learning';
    verdict.className = `tabular-verdict tabular-is-${is}`;
    verdict.textContent = isLearning || is === 'good' ? why : `${why}. ${learned}`;
    ask(periods);
    changes.show(happened);
    noAlarms.hidden = happened.length > 0 || isLearning;
    alarms.hidden = isLearning;
    progress.replaceChildren(
      ...(isLearning
        ? [
            el('progress', { max: needed, value: Math.min(rows, needed), 'aria-label': why }),
            el('p', { class: 'tabular-hint' }, text('machine.learningHint', { of: number(needed) })),
          ]
        : [el('p', { class: 'tabular-hint' }, text('machine.legend'))]),
    );
    const next = JSON.stringify([times, sensors]);
    if (next !== drawn) {
      drawn = next;
      figures.replaceChildren(
        ...sensors.filter((one) => one.rows).map((one) => sensorPicture(one, times, happened)),
      );
      const rest = sensors.filter((one) => !one.rows);
      const isOpen = others.firstChild?.open ?? false;
      others.replaceChildren(...(rest.length === 0 ? [] : [otherSensors(rest, look)]));
      if (isOpen && others.firstChild) {
        others.firstChild.open = true;
      }
    }
  }
  return { root, show };
}
