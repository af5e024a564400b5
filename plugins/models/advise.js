import { bdi, el, moreButton, number, section, smallButton, text, whenReleased } from './dom';

/* Find a setting: which columns to change so that the model expects a goal. Its words are those of the advise node. */

const FIRST_COLUMNS = 6;
const GOALS = ['at least', 'at most', 'highest', 'lowest'];
const PARTS = { number: ['from', 'to', 'step', 'cost', 'price'], words: ['cost'] };
const word = (key) => RED._(`node-red-contrib-tabular-prediction/tabular-advise:${key}`);

/*
 * What was filled in for the model that is open, and what came of it: all of it is there again where the sidebar is
 * drawn anew, also an answer that is still to come.
 */
let wish = {};
function wishFor(of) {
  if (wish.of !== of) {
    wish = {
      of,
      vary: Object.create(null),
      goal: GOALS[0],
      value: '',
      sure: 0.9,
      candidates: '',
      maxCost: '',
      all: false,
    };
  }
  return wish;
}

/* Dates, and words of which not all are known, cannot be set. */
const kindOf = ({ type, usual }) =>
  usual && usual.kind === 'number' && type !== 'date' && type !== 'bigint'
    ? 'number'
    : usual && usual.kind === 'category' && usual.categories.length > 1
      ? 'words'
      : undefined;

/* A field under its name; what is typed goes to the property of `into`. */
function field(name, into, property, keep, more = {}) {
  const input = el('input', {
    ...{ type: 'number', step: 'any', value: into[property] ?? '', 'data-keep': keep, ...more },
    oninput: ({ target }) => (into[property] = target.value),
  });
  return el('label', {}, el('span', {}, name), input);
}

function choice(name, options, into, property, keep, changed = () => {}) {
  const select = el(
    'select',
    {
      'data-keep': keep,
      onchange: ({ target }) => {
        into[property] = target.value;
        changed();
      },
    },
    options.map(([value, said]) =>
      el('option', { value, selected: String(into[property]) === String(value) }, said),
    ),
  );
  return el('label', {}, el('span', {}, name), select);
}

/* A column that may be changed: what is to be said of it comes with its tick. */
function drawColumn(column, mine) {
  const { name, label, usual } = column;
  const kind = kindOf(column);
  const said = (mine.vary[name] = mine.vary[name] || {});
  const hints = kind === 'number' ? { from: usual.q05, to: usual.q95 } : {};
  const parts = el(
    'div',
    { class: 'tabular-find-parts', role: 'group', 'aria-label': label, hidden: !said.on },
    PARTS[kind].map((part) =>
      field(word(`vary.${part}`), said, part, `find-${part}-${name}`, {
        placeholder: hints[part] === undefined ? undefined : Number(hints[part].toPrecision(6)),
      }),
    ),
  );
  const tick = el('input', {
    type: 'checkbox',
    checked: said.on,
    'data-keep': `find-vary-${name}`,
    onchange: ({ target }) => {
      said.on = target.checked;
      parts.hidden = !target.checked;
    },
  });
  return el('div', {}, el('label', { class: 'tabular-find-column' }, tick, bdi(label)), parts);
}

/* What the form holds, as the advise node has it; what is empty is left out. */
function readQuestion(mine, columns) {
  const numeral = (value) => (value === '' || value === undefined ? undefined : Number(value));
  return {
    vary: columns
      .filter(({ name }) => mine.vary[name]?.on)
      .map((column) => ({
        column: column.name,
        ...Object.fromEntries(
          PARTS[kindOf(column)]
            .map((part) => [part, numeral(mine.vary[column.name][part])])
            .filter(([, value]) => value !== undefined),
        ),
      })),
    goal: mine.goal,
    value: mine.value === '' ? undefined : mine.value,
    sure: numeral(mine.sure),
    candidates: numeral(mine.candidates),
    maxCost: numeral(mine.maxCost),
  };
}

const describeChanges = ({ changes }) =>
  changes.map(({ column, to, by }, i) => [
    i === 0 ? '' : ', ',
    bdi(column),
    ` → ${typeof to === 'number' ? number(to) : to}`,
    by === undefined ? '' : ` (${by > 0 ? '+' : ''}${number(by)})`,
  ]);

/* What the service may charge, and the button that agrees to it. */
function drawPrice({ rows, predicts, cost }, agree) {
  const said = { rows: number(rows), predicts: number(predicts), cost: number(cost ?? 0) };
  return [
    el('p', {}, text(cost === undefined ? 'find.priceUnknown' : 'find.price', said)),
    smallButton('find-agree', text('find.agree'), agree),
  ];
}

function drawAnswer({ advice, failed }, take, agree) {
  if (failed !== undefined) {
    return [el('p', { class: 'tabular-note' }, failed)];
  }
  if (advice.price !== undefined) {
    return drawPrice(advice.price, agree);
  }
  const { set, text: said, others, rests_on: rests, outside } = advice;
  const isChange = Object.keys(set || {}).length > 0;
  return [
    el('p', {}, said),
    outside ? el('p', { class: 'tabular-hint' }, text('find.outside'), ' ', describeChanges(outside)) : '',
    rests
      ? el(
          'p',
          { class: 'tabular-hint' },
          text('find.rests', { rows: number(rests.rows), of: number(rests.of) }),
        )
      : '',
    isChange ? smallButton('find-take', text('find.take'), () => take(set)) : '',
    others.length > 0
      ? [
          el('h4', {}, text('find.others')),
          el(
            'ul',
            { class: 'tabular-changes' },
            others.map((one) =>
              el(
                'li',
                {},
                el(
                  'span',
                  {},
                  describeChanges(one),
                  one.cost === 0 ? '' : `: ${text('find.cost')} ${number(one.cost)}`,
                ),
              ),
            ),
          ),
        ]
      : '',
  ];
}

/*
 * @param rowNow the row of Try it, as it is filled in
 * @param take puts values into that row
 */
export function findSetting(service, { card, kind }, columns, { rowNow, take }) {
  const able = columns.filter((one) => kindOf(one) !== undefined);
  if (able.length === 0) {
    return '';
  }
  const mine = wishFor(JSON.stringify([service, card.name]));
  const isClass = card.task === 'classification';
  if (isClass && mine.value === '') {
    mine.value = String((card.classes || [])[0] ?? '');
  }
  const list = el('div', {
    class: 'tabular-find-columns',
    role: 'group',
    'aria-label': word('label.vary'),
  });
  const showColumns = () => {
    const shown = mine.all ? able : able.slice(0, FIRST_COLUMNS);
    const rest = able.length - shown.length;
    list.replaceChildren(
      ...shown.map((one) => drawColumn(one, mine)),
      ...moreButton(rest, 'find-more', () => {
        mine.all = true;
        showColumns();
        list.children[FIRST_COLUMNS]?.querySelector('input')?.focus();
      }),
    );
  };
  showColumns();

  const value = isClass
    ? choice(
        word('label.value'),
        (card.classes || []).map((one) => [String(one), String(one)]),
        mine,
        'value',
        'find-value',
      )
    : field(word('label.value'), mine, 'value', 'find-value');
  const showValue = () => (value.hidden = !isClass && ['highest', 'lowest'].includes(mine.goal));
  const goals = GOALS.map((one) => [one, word(`goal.${one}`)]);
  const goal = choice(word('label.goal'), goals, mine, 'goal', 'find-goal', showValue);
  showValue();
  const sure = field(word('label.sure'), mine, 'sure', 'find-sure', { min: 0.5, max: 0.99, step: 0.01 });
  const costs =
    kind === 'embedded'
      ? ''
      : [
          field(word('label.candidates'), mine, 'candidates', 'find-candidates', { placeholder: 2000 }),
          kind === 'hosted'
            ? field(word('label.maxCost'), mine, 'maxCost', 'find-cost', { placeholder: 0 })
            : '',
        ];

  const answer = el('div', { class: 'tabular-found', role: 'status', 'aria-live': 'polite' });
  mine.show = () => {
    answer.classList.toggle('tabular-busy', mine.isAsking === true);
    if (mine.answered !== undefined) {
      answer.replaceChildren(
        ...drawAnswer(mine.answered, take, () => ask(true))
          .flat(Infinity)
          .filter(Boolean),
      );
    }
  };
  mine.show();

  let asked = 0;
  /* A price once agreed to holds until there are more or fewer candidates. */
  function ask(agreed = mine.agreed === mine.candidates) {
    mine.agreed = agreed ? mine.candidates : undefined;
    const turn = (mine.turn = `${++asked} ${Date.now()}`);
    mine.isAsking = true;
    mine.show();
    const done = (answered) =>
      whenReleased(() => {
        if (mine.turn === turn) {
          Object.assign(mine, { answered, isAsking: false });
          mine.show();
        }
      }, 'button, summary');
    $.ajax({
      url: `tabular-prediction/sidebar/${encodeURIComponent(service)}/advise`,
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify({ model: card.name, row: rowNow(), ...readQuestion(mine, able), agreed }),
    })
      .done((advice) => done({ advice }))
      .fail(({ status, responseJSON }) => {
        const { message } = responseJSON || {};
        const key = status === 401 || status === 403 ? 'failed.rights' : 'failed.away';
        done({ failed: message || text(key) });
      });
  }

  return section(
    'find',
    [
      el('p', { class: 'tabular-hint' }, text(kind === 'embedded' ? 'find.hint' : 'find.hintPaid')),
      el('h4', {}, word('label.vary')),
      list,
      el('p', { class: 'tabular-hint' }, word('tip.vary')),
      el('div', { class: 'tabular-find-parts tabular-find-goal' }, goal, value, sure, costs),
      el(
        'div',
        { class: 'tabular-buttons' },
        smallButton('find-ask', text('find.ask'), () => ask(), { class: 'primary' }),
      ),
      answer,
    ],
    false,
  );
}
