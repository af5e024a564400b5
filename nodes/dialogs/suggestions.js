import { RARE_FROM } from '../../src/runtime/status/in-words';
import { prefixOf, wordOf } from './dialog';
import { picker } from './picker';
import { soon } from './soon';
import { isEmpty, text } from './validators';

/*
 * What a dialog suggests for its fields: models, columns, labels and versions, as the runtime and the flows have them; and
 * the last reading of a node.
 */

/* What was asked for and has not been answered yet, by address: several fields may offer the same list. */
const underWay = new Map();

/* A list from the runtime, given to `then`; none where it does not answer. */
export function fetchList(id, what, then) {
  if (!id || id === '_ADD_') {
    then([]);
    return;
  }
  const address = `tabular-prediction/${encodeURIComponent(id)}/${what}`;
  if (!underWay.has(address)) {
    underWay.set(
      address,
      $.getJSON(address).always(() => underWay.delete(address)),
    );
  }
  underWay
    .get(address)
    .done(then)
    .fail(() => then([]));
}

/* The one score that models of a task are mostly told apart by. */
function scoreOf({ accuracy, r2, roc_auc: area, baseline = {} }) {
  if (Number.isFinite(area) && baseline.accuracy >= RARE_FROM) {
    return text('score.roc_auc', { score: number(area, 3) });
  }
  if (Number.isFinite(accuracy)) {
    return text('score.accuracy', { score: number(accuracy, 3) });
  }
  return Number.isFinite(r2) ? text('score.r2', { score: number(r2, 3) }) : '';
}

/* A number as the language of the words writes it. */
function number(value, digits = 0) {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(text('language'), format).format(value);
}

function modelDetails({ task, target, rows, scores }) {
  return [
    `${text(`task.${task}`)}: ${target}`,
    scoreOf(scores || {}),
    rows ? text('rows', { rows: number(rows) }) : '',
  ].filter((part) => part !== '');
}

/* The id of the chosen service; `none` where none is chosen. */
function chosenService() {
  const id = $('#node-input-config').val();
  return !id || id === '_ADD_' ? 'none' : id;
}

/* What the chosen service is; none is the embedded one. */
export function serviceProperties() {
  const id = chosenService();
  const { service, baseUrl, apiName } = RED.nodes.node(id) || {};
  return { id, service: service || 'embedded', baseUrl, apiName };
}

/*
 * The cards of its models, given to `then`; one of them may be asked to tell its columns. It may not be deployed yet:
 * they are kept by its address.
 */
function fetchModels(then, columnsOf) {
  const { id, service, ...address } = serviceProperties();
  const query = $.param({ ...(service !== 'embedded' && { service, ...address }), columnsOf });
  fetchList(id, query === '' ? 'models' : `models?${query}`, then);
}

const newestFirst = (cards) =>
  [...cards].sort((a, b) => String(b.fitted_at || '').localeCompare(String(a.fitted_at || '')));

/* Names that fit nodes of the flows will keep a model under, as far as none is fitted under them. */
function plannedModels(fitted) {
  const service = chosenService();
  const names = RED.nodes
    .filterNodes({ type: 'tabular-fit' })
    .filter(({ config }) => (config || 'none') === service)
    .map(({ model }) => String(model || '').trim());
  return [...new Set(names)].filter((name) => name !== '' && !fitted.has(name));
}

/* The model that a dialog names; where it names none, that of the predict node before it. */
export function modelOf(node) {
  const sources = RED.nodes.filterLinks({ target: node }).map(({ source }) => source);
  const predict = sources.find(({ type }) => type === 'tabular-predict');
  return $('#node-input-model').val() || (predict && predict.model);
}

/*
 * The labels that a watch node may raise an alarm for, the one looked for first; `sure` where it is known which model it
 * watches. A model of an event, which a series node makes, has yes and no.
 */
function labelsOf(node, cards) {
  const model = modelOf(node);
  const all = newestFirst(cards).filter(({ classes = [] }) => classes.length > 0);
  const known = model ? all.filter(({ name }) => name === model) : all;
  const isEvent = ({ outcome }) => outcome === 'event';
  const events = RED.nodes.filterNodes({ type: 'tabular-series' }).some(isEvent) && known.length !== 1;
  const classes = [...(events ? ['yes', 'no'] : []), ...known.flatMap((one) => one.classes)].map(String);
  const { sought } = known[0] || {};
  const first = classes.includes('yes') ? 'yes' : sought;
  return {
    labels: [...new Set(first === undefined ? classes : [String(first), ...classes])],
    sure: first !== undefined && known.length < 2,
  };
}

/* What a field may be filled with, by the name of the suggestion: entries of a picker, given to `then`. */
const sources = {
  columns: (node, then) => fetchList(node.id, 'columns', (names) => then(names.map((value) => ({ value })))),
  /* What the chosen model predicts from, also before a message has come. */
  modelColumns: (node, then) => {
    const model = $('#node-input-model').val();
    fetchModels((cards) => {
      const { columns } = cards.find(({ name }) => name === model) || {};
      if (columns) {
        then(columns.map((value) => ({ value })));
      } else {
        sources.columns(node, then);
      }
    }, model);
  },
  models: (_node, then, form) =>
    fetchModels((cards) => {
      form.data('tabularTasks', Object.fromEntries(cards.map(({ name, task }) => [name, task])));
      const planned = plannedModels(new Set(cards.map(({ name }) => name)));
      then([
        ...newestFirst(cards).map((card) => ({ value: card.name, details: modelDetails(card) })),
        ...planned.map((value) => ({ value, details: [text('notFitted')] })),
      ]);
      form.trigger('change');
    }),
  labels: (node, then) =>
    fetchModels((cards) => {
      const { labels, sure } = labelsOf(node, cards);
      then(labels.map((value) => ({ value, sure, details: [] })));
    }),
  versions: (_node, then) =>
    fetchList(chosenService(), 'versions', ({ versions = [], defaultVersion }) =>
      then(versions.map((value) => ({ value, details: value === defaultVersion ? [text('default')] : [] }))),
    ),
  /* The words that the setting of the field offers. */
  options: ({ type, _def }, then, _form, name) =>
    then(
      _def.defaults[name].options.map((value) => ({
        value,
        details: [wordOf(type, `${name}.${value}`)],
      })),
    ),
};

export const { modelColumns } = sources;

/* Key, time and values of the last message, as it was read; hidden while there is none. */
export function showLastReading(node, form) {
  const place = form.find('[data-tabular-last]');
  if (place.length === 0) {
    return;
  }
  const word = (key, values) => wordOf(node.type, `lastReading.${key}`, values);
  const line = (name, value) =>
    $('<div>').append($('<b>').text(`${name}: `), $('<span>').text(String(value)));
  fetchList(node.id, 'last-reading', ({ shape, key, time, values, readings }) => {
    if (values === undefined) {
      return;
    }
    place.empty().append(
      line(word('title'), shape || word('plain')),
      line(word('key'), key ?? '–'),
      line(word('time'), time ?? word('arrival')),
      Object.entries(values).map(([name, value]) => line(name, value ?? word('missing'))),
      readings > 1 ? $('<div>').text(word('count', { count: readings })) : [],
    );
    place.prop('hidden', false);
  });
}

/* Suggestions under an input; what is typed freely stays allowed. The tip that there are none yet goes away. */
export function suggest(node, form) {
  const prefix = prefixOf(node.type);
  form.find('[data-tabular-suggest]').each(function () {
    const input = $(this);
    const what = input.attr('data-tabular-suggest');
    const typed = input.is('[data-tabular-typed]');
    const except = $(`#${prefix}${input.attr('data-tabular-except')}`);
    const shown = typed ? input.next('.red-ui-typedInput-container').find('.red-ui-typedInput-input') : input;
    const { refresh } = picker(shown, {
      name: input.attr('id'),
      many: input.is('[data-tabular-many]'),
      except: () => String(except.val() ?? '').trim(),
      fetch: (then) =>
        typed && input.typedInput('type') !== 'column'
          ? then([])
          : sources[what](
              node,
              (entries) => {
                form.find(`[data-tabular-no="${what}"]`).toggle(entries.length === 0);
                then(entries);
              },
              form,
              input.attr('id').slice(prefix.length),
            ),
    });
    let service = serviceProperties();
    $('#node-input-config').on('change', () => {
      const now = serviceProperties();
      if (JSON.stringify(now) !== JSON.stringify(service)) {
        service = now;
        refresh();
      }
    });
    except.on('change', refresh);
    if (typed) {
      input.on('change', refresh);
    }
  });
}

/*
 * Fills an empty field as it comes to be shown, by the user's choice, where it is known what belongs there. To be called
 * after the form has been told to show what applies.
 */
export function fillIn(node, form, field) {
  form.find('[data-tabular-fill]').each(function () {
    const input = $(this);
    const name = input.closest('[data-tabular-when]').attr('data-tabular-when').split('=')[0];
    const fill = soon(() => {
      if (input.is(':visible') && isEmpty(input.val())) {
        sources[input.attr('data-tabular-suggest')](node, ([first]) => {
          if (first?.sure && isEmpty(input.val())) {
            input.val(first.value).trigger('change');
          }
        });
      }
    });
    form.on('change', ({ target }) => {
      if (target === field(name)[0]) {
        fill();
      }
    });
  });
}
