import { columnTypes } from './column-types';
import { dialog, prefixOf, wordOf } from './dialog';
import { soon } from './soon';
import { fetchList, fillIn, modelOf, serviceProperties, showLastReading, suggest } from './suggestions';
import { isEmpty, text } from './validators';
import { varyList, varyOf } from './vary';

/*
 * What the dialogs of the tabular nodes do: rows that appear when they apply, reasons against wrong values, the Advanced
 * fold, names and services that are proposed.
 */

const TABLE_TYPES = ['msg', 'flow', 'global', 'jsonata', 'str', 'env'];
/* Types of a typed input beside Node-RED's own. */
const OWN_TYPES = {
  column: () => ({ value: 'column', label: text('typed.column'), icon: 'fa fa-columns' }),
  topic: () => ({ value: 'topic', label: text('typed.topic'), icon: 'fa fa-tags' }),
};

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

/* Not by jQuery's toggle: it asks for the style of each row in between, which the browser then works out each time. */
const show = (row, isShown) => row.css('display', isShown ? '' : 'none');

/* Rows with a condition are shown while their field has one of the values. */
function showWhatApplies(node, form, field) {
  form.find('[data-tabular-when]').each(function () {
    const [, name, not, values] = /^(\w+)(!?)=(.*)$/.exec($(this).attr('data-tabular-when'));
    const input = field(name);
    const value = input.is(':checkbox') ? String(input.is(':checked')) : String(input.val() || '');
    show($(this), values.split('|').includes(value) === (not === ''));
  });
  const task = form.data('tabularTasks')?.[modelOf(node)];
  form.find('[data-tabular-unless]').each(function () {
    if (task === $(this).attr('data-tabular-unless')) {
      show($(this), false);
    }
  });
  const { service } = serviceProperties();
  form.find('[data-tabular-service]').each(function () {
    const row = $(this);
    const applies = row.attr('data-tabular-service').split(' ').includes(service) || isSet(row, node);
    if (!applies || !row.is('[data-tabular-when]')) {
      show(row, applies);
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
  return node.changed === true && Object.keys(defaults).every((name) => name === 'config' || isDefault(name));
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
export function prepare(node) {
  const prefix = prefixOf(node.type);
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
    fetchList(node.id, 'types', (seen) => columnTypes(field('types'), seen, options));
  }
  form.find('[data-tabular-checks]').each(function () {
    const ticked = node[$(this).attr('data-tabular-checks')] || [];
    $(this)
      .find('input')
      .each((_, box) => $(box).prop('checked', ticked.includes(box.value)));
  });
  form.find('[data-tabular-vary]').each(function () {
    varyList(node, form, $(this));
  });
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
  form.on('change input', soon(refresh));
  fillIn(node, form, field);
  // A service that was chosen for the node is a change.
  const chosen = isEmpty(node.config) && !['', '_ADD_'].includes(field('config').val() || '');
  form.data('tabularOpened', chosen || isNamed || isToWait ? undefined : heldBy(form, prefix));
}

/* To be called by each dialog as it is saved. */
function save(node) {
  const prefix = prefixOf(node.type);
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
  const sought = `${short} ${wordOf(type, 'keywords')}`;
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
export function registerType(type, { rows, ...own }) {
  dialog(type, own.defaults, rows);
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
