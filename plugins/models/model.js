import { bdi, brief, el, number, ofOne, percent, period, section, smallButton, text, time } from './dom';
import * as pictures from './pictures';
import { answeredBy, answeredScores, thresholdPicture } from './threshold';

/* One model, opened: how good it is, what it rests on, its versions. */

const SHOWN_COLUMNS = 12;
/* What is less is told as 0 %. */
const LEAST_SHARE = 0.0005;
const SHARES = new Set(['accuracy', 'coverage_80']);
/* The scores of a task, the most telling first. */
const SCORES = {
  classification: ['accuracy', 'cost', 'roc_auc', 'log_loss'],
  regression: ['mae', 'r2', 'rmse', 'coverage_80', 'pinball'],
};

/* Losses, errors and costs. */
const LOWER_IS_BETTER = ['log_loss', 'cost', 'mae', 'rmse', 'pinball'];
function lowerIsBetter(scores) {
  const names = LOWER_IS_BETTER.filter((name) => Number.isFinite(scores[name]));
  const list = names.map((name) => text(`score.${name}`)).join(', ');
  return names.length === 0 ? '' : el('p', { class: 'tabular-hint' }, text('good.lower', { scores: list }));
}

/* What tells versions apart: accuracy alone says little of a rare label, and nothing of what a threshold answers. */
const COMPARED = { classification: ['accuracy', 'log_loss'], regression: ['mae', 'r2'] };
const comparedBy = ({ task, threshold }) => (threshold ? ['roc_auc', 'log_loss'] : COMPARED[task]);

const OF_ONE = new Set(['roc_auc', 'r2']);
/* Noise of a log loss of 0, as earlier versions kept it, is 0. */
const written = (name, value) =>
  (SHARES.has(name) ? percent : OF_ONE.has(name) ? ofOne : brief)(Math.abs(value) < 1e-12 ? 0 : value);

/* A row for each score, beside what is reached without a model and what "as it is now" would score, where known. */
function scoreTable({ task, scores }) {
  const { baseline = {}, baseline_now: now = {} } = scores;
  const names = SCORES[task].filter((name) => Number.isFinite(scores[name]));
  const columns = [
    ['score.model', scores],
    ['score.baseline', baseline],
    ['score.now', now],
  ].filter(([, values]) => names.some((name) => Number.isFinite(values[name])));
  const cell = (name, value) => el('td', {}, Number.isFinite(value) ? written(name, value) : '');
  return el(
    'table',
    { class: 'tabular-scores' },
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('td', {}),
        columns.map(([key]) => el('th', { scope: 'col' }, text(key))),
      ),
    ),
    el(
      'tbody',
      {},
      names.map((name) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, text(`score.${name}`)),
          columns.map(([, values]) => cell(name, values[name])),
        ),
      ),
    ),
  );
}

const drawNote = (note) => el('p', { class: 'tabular-note' }, note);

/* What the model was doubted for as it was fitted, and a button for the columns that it may be better without. */
function drawDoubts({ doubts = [], doubted_columns: columns = [] }, ignore) {
  return doubts.length === 0
    ? ''
    : el(
        'div',
        { class: 'tabular-doubts' },
        doubts.map(drawNote),
        columns.length > 0
          ? smallButton('ignore', text('doubts.ignore'), () => ignore(columns), { title: columns.join(', ') })
          : '',
      );
}

function howGood({ card, curves }, change) {
  const { scores, limited = [], threshold } = card;
  const notes = limited.map(drawNote);
  if (scores === undefined) {
    return section('good', [...notes, el('p', { class: 'tabular-hint' }, text('good.none'))]);
  }
  const from = scores.from === 'holdout' ? 'good.holdout' : 'good.outOfFold';
  const answered = answeredScores(curves?.by_threshold, card);
  const hasCost = Number.isFinite(answered.cost);
  return section('good', [
    ...notes,
    scoreTable({ ...card, scores: answered }),
    lowerIsBetter(answered),
    answered === scores || !threshold
      ? ''
      : el(
          'p',
          { class: 'tabular-hint' },
          text(hasCost ? 'good.atThresholdCost' : 'good.atThreshold', { at: percent(threshold.at) }),
        ),
    el('p', { class: 'tabular-hint' }, text(from, { rows: number(scores.rows) })),
    drawRange(scores),
    curves === undefined
      ? el('p', { class: 'tabular-hint' }, text('good.noCurves'))
      : el('div', { class: `tabular-figures tabular-of-${curves.kind}` }, drawPictures(curves, card, change)),
  ]);
}

/* Where the loss of later rows may lie. */
function drawRange({ log_loss: loss, loss_low: low, loss_high: high }) {
  const name = text(loss === undefined ? 'score.rmse' : 'score.log_loss');
  return Number.isFinite(high)
    ? el(
        'p',
        { class: 'tabular-hint' },
        text('good.range', { loss: name, low: brief(low), high: brief(high) }),
      )
    : '';
}

function drawPictures(curves, card, change) {
  const { scores, relative_to: relativeTo } = card;
  if (curves.kind === 'numbers') {
    // Out of fold the model is compared as it learned: by the change.
    const isChange = relativeTo !== undefined && scores.from === 'out-of-fold';
    return [pictures.againstActual(curves, scores, isChange), pictures.residuals(curves.residuals)];
  }
  const { by_threshold: curve } = curves;
  return [
    pictures.confusion(answeredBy(curves, card.threshold)),
    ...(curve === undefined ? [] : [thresholdPicture(curve, card, change)]),
    pictures.calibration(curves, curve && curve.positive),
  ];
}

function restsOn({ importance: all }) {
  if (all.length === 0) {
    return [];
  }
  const sum = all.reduce((total, [, value]) => total + value, 0);
  const shown = all
    .slice(0, SHOWN_COLUMNS)
    .map(([name, value]) => [name, sum > 0 ? value / sum : 0])
    .filter(([, part], i) => i === 0 || part >= LEAST_SHARE);
  const more = all.length - shown.length;
  return [
    section('rests', [
      pictures.bars(shown, percent),
      el(
        'p',
        { class: 'tabular-hint' },
        text('rests.hint'),
        more > 0 ? ` ${text('rests.more', { more: number(more) })}` : '',
      ),
    ]),
  ];
}

/* How a version did beside the one that it took over from, where both are still here. */
function drawCompared({ compared }, versions) {
  if (compared === undefined || !versions.some(({ version }) => version === compared.with)) {
    return '';
  }
  const { with: other, rows, loss, own, before } = compared;
  return el(
    'small',
    {},
    text('versions.compared', {
      ...{ rows: number(rows), other },
      ...{ loss: text(`score.${loss}`), own: number(own), before: number(before) },
    }),
  );
}

/* How the versions do on real outcomes, where a node watches the model. */
export function showLiveVersions(part, known = []) {
  const places = new Map(
    [...part.querySelectorAll('[data-live-version]')].map((place) => [place.dataset.liveVersion, place]),
  );
  const scored = known.filter(({ version }) => places.has(String(version)));
  places.forEach((place) => place.replaceChildren());
  scored.forEach((one) => places.get(String(one.version)).append(drawLive(one)));
  const compares = scored.some(({ now }) => Number.isFinite(now));
  const hint = compares ? 'versions.hintNow' : scored.length > 0 ? 'versions.hintLive' : 'versions.hint';
  part.querySelector('[data-hint]')?.replaceChildren(text(hint));
}

function drawLive({ measure, rows, loss, now, since, until }) {
  const name = text(`score.${measure}`);
  const values = {
    loss: name,
    value: brief(loss),
    rows: number(rows),
    period: period(since, until, { dateStyle: 'medium' }),
  };
  return Number.isFinite(now)
    ? text('versions.liveNow', { ...values, now: brief(now) })
    : text('versions.live', values);
}

/* Only an older version is rolled back to. */
const takeOf = (to, inCharge) => (to > inCharge ? 'versions.takeNewer' : 'versions.take');

function drawVersions({ card, before }, takeBack) {
  const { version, versions = [] } = card;
  if (versions.length === 0) {
    return [];
  }
  const scoresOf = (one) =>
    comparedBy(card)
      .filter((name) => Number.isFinite((one.scores || {})[name]))
      .map((name) => `${text(`score.${name}`)} ${written(name, one.scores[name])}`);
  return [
    section(
      'versions',
      [
        el(
          'ul',
          { class: 'tabular-versions' },
          versions.map((one) => {
            const isInCharge = one.version === version;
            return el(
              'li',
              { class: isInCharge ? 'tabular-in-charge' : '' },
              el('b', {}, `@${one.version}`),
              el('span', { class: 'tabular-when' }, time(one.fitted_at)),
              el('span', {}, scoresOf(one).join(' · ')),
              el(
                'small',
                {},
                text('versions.rows', { rows: number(one.rows) }),
                ' · ',
                reasonText(one.why),
                one.version === before ? ` · ${text('versions.previous')}` : '',
                one.published
                  ? ` · ${text('versions.published', { number: number(one.published.number) })}`
                  : '',
                one.doubted ? ` · ${text('versions.doubted')}` : '',
              ),
              el('small', { 'data-live-version': one.version }),
              drawCompared(one, versions),
              isInCharge
                ? el('em', {}, text('versions.inCharge'))
                : takeBack &&
                    smallButton('take', text(takeOf(one.version, version)), () => takeBack(one.version)),
            );
          }),
        ),
        versions.length > 1
          ? el('p', { class: 'tabular-hint', 'data-hint': true }, text('versions.hint'))
          : '',
      ],
      versions.length > 1,
    ),
  ];
}

/* Why a version came to be, in words; an unknown reason stays as it is. */
const reasonText = (why) => {
  const word = text(`why.${why}`);
  return word.includes(`why.${why}`) ? String(why ?? '') : word;
};

function facts({ card, kind }) {
  const {
    task,
    target,
    rows,
    fitted_at: at,
    order,
    group,
    folds,
    relative_to: relativeTo,
    trained_until: until,
    version,
    versions = [],
  } = card;
  const newest = Math.max(...versions.map((one) => one.version));
  const line = (name, ...value) => el('div', {}, el('dt', {}, text(`fact.${name}`)), el('dd', {}, ...value));
  const list = (name, ...lines) => el('dl', { class: `tabular-${name}` }, lines);
  return {
    main: list(
      'facts',
      line('target', bdi(target || '–')),
      version
        ? line('version', version < newest ? text('fact.notNewest', { version, newest }) : number(version))
        : '',
      line('fitted', time(at, 'medium')),
    ),
    more: section(
      'details',
      [
        list(
          'details',
          line('task', text(`task.${task}`)),
          line('rows', number(rows), order === 'time' ? ` · ${text('fact.inTime')}` : ''),
          until ? line('until', time(until, 'medium')) : '',
          group ? line('group', bdi(group), folds ? ` · ${text(`folds.${folds}`)}` : '') : '',
          relativeTo && task === 'regression' ? line('relativeTo', bdi(relativeTo)) : '',
          line('service', text(`service.${kind}`)),
        ),
      ],
      false,
    ),
  };
}

/* The sections of an opened model; `live` is the place of the live part, `form` that of Try it. */
export function modelSections(shown, { live, form, takeBack, change, ignore, manage }) {
  const { main, more } = facts(shown);
  return [
    drawDoubts(shown.card, ignore),
    main,
    live,
    howGood(shown, change),
    ...restsOn(shown),
    form,
    ...drawVersions(shown, takeBack),
    more,
    manage,
  ];
}
