/* global RED, $ */
/*
 * What the dialogs of the tabular nodes do: rows that appear when they apply, reasons against wrong values,
 * suggestions, the Advanced fold. Loaded by each dialog; the first to come counts.
 */
(function () {
  'use strict';
  const shared = (RED.tabularPrediction = RED.tabularPrediction || {});
  if (shared.prepare) {
    return;
  }

  const TABLE_TYPES = ['msg', 'flow', 'global', 'jsonata', 'str', 'env'];
  const text = (key, values) => shared.text(key, values);
  /* Types of a typed input beside Node-RED's own. */
  const OWN_TYPES = {
    column: () => ({ value: 'column', label: text('typed.column'), icon: 'fa fa-columns' }),
    topic: () => ({ value: 'topic', label: text('typed.topic'), icon: 'fa fa-tags' }),
  };
  const isEmpty = (value) => shared.isEmpty(value);

  /* A list from the runtime, given to `then`; none where it does not answer. */
  function fetchList(id, what, then) {
    if (!id || id === '_ADD_') {
      then([]);
      return;
    }
    $.getJSON(`tabular-prediction/${encodeURIComponent(id)}/${what}`)
      .done(then)
      .fail(() => then([]));
  }

  /* Where one label is so frequent, its share is near to the accuracy of any model; as in the status and the sidebar. */
  const RARE_FROM = 0.9;

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
  function serviceProperties() {
    const { service, baseUrl, apiName } = RED.nodes.node(chosenService()) || {};
    return { service: service || 'embedded', baseUrl, apiName };
  }

  /*
   * The cards of its models, given to `then`; one of them may be asked to tell its columns. It may not be deployed yet:
   * they are kept by its address.
   */
  function fetchModels(then, columnsOf) {
    const { service, ...address } = serviceProperties();
    const query = $.param({ ...(service !== 'embedded' && { service, ...address }), columnsOf });
    fetchList(chosenService(), query === '' ? 'models' : `models?${query}`, then);
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
  function modelOf(node) {
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
    columns: (node, then) =>
      fetchList(node.id, 'columns', (names) => then(names.map((value) => ({ value })))),
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
        then(
          versions.map((value) => ({ value, details: value === defaultVersion ? [text('default')] : [] })),
        ),
      ),
    /* The words that the setting of the field offers. */
    options: ({ type, _def }, then, _form, name) =>
      then(
        _def.defaults[name].options.map((value) => ({
          value,
          details: [shared.word(type, `${name}.${value}`)],
        })),
      ),
  };

  /* Key, time and values of the last message, as it was read; hidden while there is none. */
  function showLastReading(node, form) {
    const place = form.find('[data-tabular-last]');
    if (place.length === 0) {
      return;
    }
    const word = (key, values) => shared.word(node.type, `lastReading.${key}`, values);
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
  function suggest(node, form) {
    const prefix = shared.prefixOf(node.type);
    form.find('[data-tabular-suggest]').each(function () {
      const input = $(this);
      const what = input.attr('data-tabular-suggest');
      const typed = input.is('[data-tabular-typed]');
      const except = $(`#${prefix}${input.attr('data-tabular-except')}`);
      const shown = typed
        ? input.next('.red-ui-typedInput-container').find('.red-ui-typedInput-input')
        : input;
      const { refresh } = shared.picker(shown, {
        name: input.attr('id'),
        many: input.is('[data-tabular-many]'),
        fetch: (then) =>
          typed && input.typedInput('type') !== 'column'
            ? then([])
            : sources[what](
                node,
                (entries) => {
                  form.find(`[data-tabular-no="${what}"]`).toggle(entries.length === 0);
                  const taken = String(except.val() ?? '').trim();
                  then(entries.filter(({ value }) => value !== taken));
                },
                form,
                input.attr('id').slice(prefix.length),
              ),
      });
      $('#node-input-config').on('change', refresh);
      except.on('change', refresh);
      if (typed) {
        input.on('change', refresh);
      }
    });
  }

  /* Fills an empty field as it comes to be shown, by the user's choice, where it is known what belongs there. */
  function fillIn(node, form, field) {
    form.find('[data-tabular-fill]').each(function () {
      const input = $(this);
      const name = input.closest('[data-tabular-when]').attr('data-tabular-when').split('=')[0];
      form.on('change', ({ target }) => {
        if (target === field(name)[0] && input.is(':visible') && isEmpty(input.val())) {
          sources[input.attr('data-tabular-suggest')](node, ([first]) => {
            if (first?.sure && isEmpty(input.val())) {
              input.val(first.value).trigger('change');
            }
          });
        }
      });
    });
  }

  /* Whether the flows that run have this node: others may go by what it is there. */
  const isDeployed = ({ id }) => (RED.nodes.originalFlow() || []).some((one) => one.id === id);

  /* What a fit node learns, as far as it is known here: its target, or the column that its series node predicts. */
  function learned(node, field) {
    const target = String(field('target').val() || '').trim();
    const series = RED.nodes
      .filterLinks({ target: node })
      .find(({ source, sourcePort }) => source.type === 'tabular-series' && sourcePort === 2);
    return target || (series && series.source.column) || '';
  }

  /* Whether a fit node that runs may have kept a model under its id: it was told what to learn, or is referred to. */
  function mayHaveFitted(node, field) {
    const isReferredTo = RED.nodes.filterNodes({}).some(({ model }) => model === node.id);
    return isDeployed(node) && (learned(node, field) !== '' || isReferredTo);
  }

  /*
   * Where nothing else is said, a model has the id of its fit node, by which nobody knows it: one that has fitted
   * nothing yet is named after what it learns, in sight and to be changed. Answers whether it is named as its dialog
   * opens, which is a change.
   */
  function nameModel(node, field) {
    if (node.type !== 'tabular-fit' || mayHaveFitted(node, field)) {
      return false;
    }
    const model = field('model');
    let proposed = '';
    function propose() {
      const own = String(model.val() || '').trim();
      if (!isEmpty(field('name').val()) || (own !== '' && own !== proposed)) {
        return;
      }
      const base = learned(node, field)
        .replace(/\$\{[^}]*\}/g, '')
        .trim();
      const others = RED.nodes.filterNodes({ type: 'tabular-fit' }).filter(({ id }) => id !== node.id);
      const isTaken = (name) => others.some((one) => one.model === name || one.name === name);
      let count = 2;
      let name = base;
      while (name !== '' && isTaken(name)) {
        name = `${base} ${count++}`;
      }
      if (name !== own) {
        proposed = name;
        model.val(name).trigger('change');
      }
    }
    field('target').on('change', propose);
    if (isNew(node)) {
      propose();
    }
    return proposed !== '';
  }

  /*
   * A new predict node that a series node feeds waits for its model: the first train set leaves beside the first rows,
   * which would otherwise be an error. Answers whether it was set, which is a change.
   */
  function waitForModel(node, field) {
    const isFed = () =>
      RED.nodes
        .filterLinks({ target: node })
        .some(({ source, sourcePort }) => source.type === 'tabular-series' && sourcePort === 0);
    if (node.type !== 'tabular-predict' || !isNew(node) || !isFed()) {
      return false;
    }
    field('noModel').val('wait');
    return true;
  }

  /* A flow of an earlier version or written by hand may leave properties out: choices show what that means. */
  function fillDefaults(node, field) {
    for (const [name, { value, fallback = value }] of Object.entries(node._def.defaults)) {
      const input = field(name);
      if (input.is('select') && fallback && !node[name]) {
        input.val(fallback);
      }
      if (node[name] !== undefined) {
        continue;
      }
      if (input.is(':checkbox')) {
        input.prop('checked', value === true);
      }
      if (name === 'table' || name === 'tableType') {
        input.val(value);
      }
    }
  }

  /* Whether anything is set in a row, that is, differs from what stands there from the start. */
  function isSet(row, { _def: { defaults } }) {
    return row
      .find(':input[id]')
      .get()
      .some((input) => {
        const { value } = defaults[input.id.slice(input.id.lastIndexOf('-') + 1)] || {};
        const now = input.type === 'checkbox' ? input.checked : $(input).val();
        return !isEmpty(now) && String(now) !== String(value);
      });
  }

  /* Rows with a condition are shown while their field has one of the values. */
  function showWhatApplies(node, form, field) {
    form.find('[data-tabular-when]').each(function () {
      const [, name, not, values] = /^(\w+)(!?)=(.*)$/.exec($(this).attr('data-tabular-when'));
      const input = field(name);
      const value = input.is(':checkbox') ? String(input.is(':checked')) : String(input.val() || '');
      $(this).toggle(values.split('|').includes(value) === (not === ''));
    });
    const task = form.data('tabularTasks')?.[modelOf(node)];
    form.find('[data-tabular-unless]').each(function () {
      if (task === $(this).attr('data-tabular-unless')) {
        $(this).hide();
      }
    });
    const { service } = serviceProperties();
    form.find('[data-tabular-service]').each(function () {
      const row = $(this);
      const applies = row.attr('data-tabular-service').split(' ').includes(service) || isSet(row, node);
      if (!applies || !row.is('[data-tabular-when]')) {
        row.toggle(applies);
      }
    });
    // Of the choices for one task or the other, those that fit the model, and what is chosen.
    form.find('optgroup[data-tabular-of^="task."]').each(function () {
      const fits = task === undefined || $(this).attr('data-tabular-of') === `task.${task}`;
      $(this).prop('hidden', !fits && $(this).find('option:selected').length === 0);
    });
  }

  function reasonAgainst(node, definition, value) {
    const answer = definition.validate ? definition.validate.call(node, value, {}) : true;
    return answer === true ? '' : String(answer || text('invalid.value'));
  }

  /* The reason against a value, under its field: Node-RED itself shows it to a mouse pointer only. */
  function explain(node, field) {
    for (const [name, definition] of Object.entries(node._def.defaults)) {
      const input = field(name);
      const place = $(`#${input.attr('id')}-error`);
      if (place.length === 0) {
        continue;
      }
      const reason = reasonAgainst(node, definition, input.val());
      if (place.text() !== reason) {
        place.text(reason);
      }
      const shown = input.next('.red-ui-typedInput-container').find('input:visible').add(input);
      shown.attr('aria-invalid', reason === '' ? null : 'true');
    }
  }

  /* The fold is open from the start where something in it was changed or is wrong. */
  function unfold(node, prefix, form) {
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(isEmpty(b) ? '' : b);
    // An empty field stands for its default.
    const differs = (name) =>
      !isEmpty(node[name]) && node[name] !== '_ADD_' && !same(node[name], node._def.defaults[name].value);
    const fold = form.find('.tabular-advanced');
    const inFold = (name) => fold.find(`#${prefix}${name}, [data-tabular-checks="${name}"]`).length > 0;
    const changed = Object.keys(node._def.defaults).some((name) => inFold(name) && differs(name));
    const wrong = fold.find('.tabular-error').is((_, place) => place.textContent !== '');
    fold.prop('open', changed || wrong).on('toggle', () => RED.tray.resize());
  }

  /*
   * Node-RED's own parts, made known to keyboard and screen reader: typed inputs and the buttons of a config list.
   * Names are by aria-labelledby, which no tooltip overrides: Node-RED 5 makes the reason against a value its name.
   */
  function nameParts(form) {
    form.find('.red-ui-typedInput-container').each(function () {
      const id = $(this).prev('input').attr('id');
      const inner = $(this).find('input.red-ui-typedInput-input');
      inner.attr({ 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-error` });
      $(this).find('button').attr('aria-labelledby', `${id}-label`);
      $(`#${id}-label`).on('click', () => inner.trigger('focus'));
    });
    form.find('select:not([aria-describedby])').each(function () {
      $(this).attr({ 'aria-labelledby': `${this.id}-label`, 'aria-describedby': `${this.id}-error` });
    });
    form.find('a.red-ui-button').each(function () {
      const action = /-edit$/.test(this.id) ? 'edit' : 'add';
      $(this)
        .attr({ role: 'button', tabindex: 0, 'aria-label': text(`label.${action}Config`) })
        .on('keydown', (event) => {
          if (event.key !== 'Enter' && event.key !== ' ') {
            return;
          }
          event.preventDefault();
          this.click();
        });
    });
  }

  /* Whether a node was dragged in and not touched since. */
  function isNew(node) {
    const { defaults } = node._def;
    const isDefault = (name) => JSON.stringify(node[name]) === JSON.stringify(defaults[name].value);
    return (
      node.changed === true && Object.keys(defaults).every((name) => name === 'config' || isDefault(name))
    );
  }

  /*
   * A node just dragged in takes the service that is there already. Any other without one is left on the embedded
   * service: its tables must not go to another computer because its dialog was opened.
   */
  function chooseService(node, input) {
    if (node.config || input.val() !== '_ADD_' || !isNew(node)) {
      return;
    }
    const known = input.find('option').filter((_, option) => option.value && option.value !== '_ADD_');
    if (known.length > 0) {
      input.val(known[0].value).trigger('change');
    }
  }

  const VARY_PARTS = ['column', 'from', 'to', 'step', 'cost', 'price'];

  /* A line for each column that may be changed. */
  let varied = 0;
  function varyList(node, form) {
    form.find('[data-tabular-vary]').each(function () {
      const name = $(this).attr('data-tabular-vary');
      const list = $(this).editableList({
        sortable: true,
        removable: true,
        addItem(container, index, entry) {
          container.addClass('tabular-vary');
          const id = `tabular-vary-${varied++}`;
          for (const part of VARY_PARTS) {
            const word = shared.word(node.type, `vary.${part}`);
            const isColumn = part === 'column';
            const input = $('<input type="text">')
              .attr({ 'data-part': part, 'aria-label': word, id: isColumn ? id : `${id}-${part}` })
              .attr(isColumn ? { placeholder: word } : { inputmode: 'decimal' })
              .val(entry[part] ?? '');
            if (isColumn) {
              container.append(input);
              shared.picker(input, { name: id, fetch: (then) => sources.modelColumns(node, then) });
            } else {
              container.append($('<label>').append($('<span>').text(word), input));
            }
          }
        },
        removeItem: () => form.trigger('change'),
      });
      list.editableList('addItems', Array.isArray(node[name]) ? node[name] : []);
      const wrong = $(this).closest('.form-row').find('[data-tabular-wrong]');
      // What Node-RED checks itself it checks by field; these lines are one value.
      const check = () => {
        const reason = node._def.defaults[name].validate.call(node, varyOf(list));
        wrong.text(reason === true ? '' : reason).prop('hidden', reason === true);
        list.closest('.red-ui-editableList').toggleClass('input-error', reason !== true);
      };
      list.on('input', () => form.trigger('change'));
      form.on('change', check);
      check();
    });
  }

  /* What the lines hold; a number is kept as one, and what is empty is left out. */
  function varyOf(list) {
    return list
      .editableList('items')
      .get()
      .map((item) => {
        const entry = {};
        $(item)
          .find('[data-part]')
          .each((_, input) => {
            const value = $(input).val().trim();
            const part = $(input).attr('data-part');
            if (value !== '') {
              entry[part] = part === 'column' || !Number.isFinite(Number(value)) ? value : Number(value);
            }
          });
        return entry;
      })
      .filter((entry) => Object.keys(entry).length > 0);
  }

  /* All that the fields of a form hold. The lines of types come when they are known, and write into a field that is held. */
  function heldBy(form, prefix) {
    const fields = form
      .find(`:input[id^="${prefix}"], [data-tabular-checks] input, [data-tabular-vary] input`)
      .not('.tabular-types :input');
    return JSON.stringify(
      fields.map((_, field) => (field.type === 'checkbox' ? field.checked : $(field).val())).get(),
    );
  }

  /*
   * Keeps Node-RED from reading the fields. Where nothing was changed it would still find a property that the flow
   * lacks (an older one, or one written by hand) to differ from an empty field, and mark the node as changed.
   */
  function keepFromReading(node, field) {
    for (const name of Object.keys({ ...node._def.defaults, ...node._def.credentials })) {
      field(name).removeAttr('id');
    }
  }

  /* To be called by each dialog as it opens. */
  function prepare(node) {
    const prefix = shared.prefixOf(node.type);
    const field = (name) => $(`#${prefix}${name}`);
    const form = field('name').closest('.tabular-form');
    fillDefaults(node, field);
    chooseService(node, field('config'));
    field('table').typedInput({ default: 'msg', types: TABLE_TYPES, typeField: field('tableType') });
    form.find('[data-tabular-typed]').each(function () {
      const types = $(this).attr('data-tabular-typed').split(' ');
      $(this).typedInput({
        default: types[0],
        types: types.map((type) => OWN_TYPES[type]?.() ?? type),
        typeField: $(`#${this.id}Type`),
      });
    });
    form.find('[data-tabular-json]').each(function () {
      const value = $(this).val();
      $(this).typedInput({ type: 'json', types: ['json'] });
      // An empty object is shown as {} and kept as nothing.
      $(this).typedInput('value', value === '' ? '{}' : value);
    });
    if (field('types').is('[data-tabular-json]')) {
      const { options } = node._def.defaults.types;
      fetchList(node.id, 'types', (seen) => shared.columnTypes(field('types'), seen, options));
    }
    form.find('[data-tabular-checks]').each(function () {
      const ticked = node[$(this).attr('data-tabular-checks')] || [];
      $(this)
        .find('input')
        .each((_, box) => $(box).prop('checked', ticked.includes(box.value)));
    });
    varyList(node, form);
    nameParts(form);
    suggest(node, form);
    const isNamed = nameModel(node, field);
    const isToWait = waitForModel(node, field);
    showLastReading(node, form);
    const refresh = () => {
      showWhatApplies(node, form, field);
      explain(node, field);
      RED.tray.resize();
    };
    refresh();
    unfold(node, prefix, form);
    form.on('change input', refresh);
    fillIn(node, form, field);
    // A service that was chosen for the node is a change.
    const chosen = isEmpty(node.config) && !['', '_ADD_'].includes(field('config').val() || '');
    form.data('tabularOpened', chosen || isNamed || isToWait ? undefined : heldBy(form, prefix));
  }

  /* To be called by each dialog as it is saved. */
  function save(node) {
    const prefix = shared.prefixOf(node.type);
    const field = (name) => $(`#${prefix}${name}`);
    const form = field('name').closest('.tabular-form');
    if (form.data('tabularOpened') === heldBy(form, prefix)) {
      keepFromReading(node, field);
      return;
    }
    form.find('[data-tabular-json]').each(function () {
      if (/^\s*\{\s*\}\s*$/.test($(this).val())) {
        $(this).val('');
      }
    });
    form.find('[data-tabular-vary]').each(function () {
      node[$(this).attr('data-tabular-vary')] = varyOf($(this));
    });
    form.find('[data-tabular-checks]').each(function () {
      const applies = (_, box) => $(box).closest('[data-tabular-when]').css('display') !== 'none';
      const boxes = $(this).find('input:checked').filter(applies);
      node[$(this).attr('data-tabular-checks')] = boxes.map((_, box) => box.value).get();
    });
  }

  /* What is alike for all nodes of the palette; their labels hold the words under which they are sought. */
  function paletteNode(type) {
    const short = type.replace('tabular-', '');
    // The palette searches type and label alone; more words are found where its label holds them.
    const sought = `${short} ${shared.word(type, 'keywords')}`;
    RED.events.on('registry:node-type-added', (added) => {
      if (added === type) {
        $(`.red-ui-palette-node[data-palette-type="${type}"]`).attr('data-palette-label', sought);
      }
    });
    return {
      inputLabels: function () {
        return this._('labels.input');
      },
      outputLabels: function (index) {
        return this._('labels.output' + index);
      },
      paletteLabel: short,
      label: function () {
        return this.name || short;
      },
    };
  }

  /*
   * Registers a node. `rows` makes the rows of its dialog, `own` wins over what all nodes have alike. What stands
   * there as it is (category, colour, icon, defaults, inputs, outputs) is read by tools that do not run it, such as the
   * flow library; the build writes the defaults from src/settings.
   */
  function registerType(type, { rows, ...own }) {
    shared.dialog(type, own.defaults, rows);
    RED.nodes.registerType(type, {
      ...(own.category === 'config' ? {} : paletteNode(type)),
      labelStyle: function () {
        return this.name ? 'node_label_italic' : '';
      },
      oneditprepare: function () {
        prepare(this);
      },
      oneditsave: function () {
        save(this);
      },
      ...own,
    });
  }

  Object.assign(shared, {
    prepare,
    save,
    registerType,
  });
})();
