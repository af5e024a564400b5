/* global RED */
/* The live part of an opened model: what a node watch knows of it. */
(function () {
  'use strict';
  const models = RED.tabularPrediction.models;
  const { el, text, bdi, number, percent, time, section, pictures } = models;

  const SHOWN_CHANGES = 6;

  const tile = (name, value, beside) =>
    el('div', {}, el('dt', {}, name), el('dd', {}, el('b', {}, value), el('small', {}, beside)));

  function tiles({ live = {}, coverage, widen, isNew, version }) {
    const { measure = 'mae', rows, loss, promised, now } = live;
    const shown = [];
    if (Number.isFinite(loss)) {
      const beside = [
        Number.isFinite(promised) ? text('live.promised', { value: number(promised) }) : '',
        Number.isFinite(now) ? text('live.now', { value: number(now) }) : '',
      ].filter(Boolean);
      shown.push(tile(text(`score.${measure}`), number(loss), beside.join(' · ')));
    }
    if (coverage && Number.isFinite(coverage.held)) {
      // Of labels there is no band: how often the model was right, and how sure it was.
      const isBand = measure === 'mae';
      const told = { value: percent(coverage.told) };
      shown.push(
        tile(
          isBand ? text('live.coverage') : text('live.right'),
          percent(coverage.held),
          isBand ? text('live.told', told) : text('live.sure', told),
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
        text('live.rows', { rows: number(rows ?? 0) }),
        isNew ? ` ${text('live.before', { version: number(version) })}` : '',
      ),
    ];
  }

  function driftOf(drift = []) {
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
          .map(({ column, psi, threshold }) =>
            el(
              'li',
              {},
              bdi(column),
              el('small', {}, text('live.psi', { psi: number(psi), threshold: number(threshold) })),
            ),
          ),
      ),
    ];
  }

  function changesOf(changes = []) {
    if (changes.length === 0) {
      return [];
    }
    const newest = [...changes].sort((a, b) => Number(new Date(b.since)) - Number(new Date(a.since)));
    return [
      el('h4', {}, text('live.changes')),
      el(
        'ul',
        { class: 'tabular-changes' },
        newest
          .slice(0, SHOWN_CHANGES)
          .map(({ what, since, text: said }) =>
            el('li', {}, el('time', {}, time(since)), ' ', el('span', {}, said || what)),
          ),
      ),
    ];
  }

  function causesOf(causes, card) {
    const list = Array.isArray(causes) ? causes.filter((one) => one && (one.text || one.column)) : [];
    return list.length === 0 ? [] : [el('h4', {}, text('live.causes')), ...models.causes(list, card)];
  }

  /* @param watch what the node watch knows; undefined where none watches this model */
  models.live = (watch, card) => {
    if (watch === undefined) {
      return el('p', { class: 'tabular-hint tabular-unwatched' }, text('live.none'));
    }
    const { losses = [], recent = [], live = {} } = watch;
    const points = losses.filter(Number.isFinite);
    const hasNumbers = recent.filter(({ prediction }) => Number.isFinite(prediction)).length > 1;
    return section('live', [
      ...tiles(watch),
      el(
        'div',
        { class: 'tabular-figures' },
        ...(hasNumbers ? [pictures.recent(recent)] : []),
        ...(points.length > 1 ? [pictures.losses(points, live.promised, live.measure || 'mae')] : []),
      ),
      ...changesOf(watch.changes),
      ...causesOf(watch.causes, card),
      ...driftOf(watch.drift),
    ]);
  };
})();
