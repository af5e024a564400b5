/* global RED, $ */
/*
 * What the dialogs of the tabular nodes share: validators that give a reason, rows that appear when they apply,
 * suggestions, the Advanced fold. Each dialog loads it; the first one to come counts.
 */
(function () {
  'use strict';
  if (RED.tabularPrediction) return;

  const CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config:';
  const COLUMN_TYPES = ['number', 'integer', 'bigint', 'boolean', 'text', 'date'];
  const TABLE_TYPES = ['msg', 'flow', 'global', 'jsonata', 'str', 'env'];
  const colours = { model: '#5FA8A0', data: '#8CC4BD' };

  const text = (key, values) => RED._(CATALOGUE + key, values);
  const hasEnvironment = (value) => typeof value === 'string' && /\$\{[^}]+\}/.test(value);
  const isEmpty = (value) => value === undefined || value === null || value === '';

  /* A validator of Node-RED 3 and later: true, or the reason. `check` answers a reason or nothing. */
  function validator(check) {
    return function (value, opt) {
      if (hasEnvironment(value)) return true;
      const reason = check.call(this, value);
      if (reason === undefined) return true;
      return opt && opt.label ? `${opt.label}: ${reason}` : reason;
    };
  }

  function number({ min, max, integer, required }) {
    return validator((value) => {
      if (isEmpty(value)) return required ? text('invalid.required') : undefined;
      const n = Number(value);
      if (!Number.isFinite(n) || (integer && !Number.isInteger(n)))
        return text(integer ? 'invalid.integer' : 'invalid.number');
      if (min !== undefined && n < min) return text('invalid.min', { min });
      if (max !== undefined && n > max) return text('invalid.max', { max });
      return undefined;
    });
  }

  function parseObject(value) {
    const parsed = typeof value === 'string' ? JSON.parse(value) : value;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error();
    return parsed;
  }

  const json = validator((value) => {
    if (isEmpty(value)) return undefined;
    try {
      parseObject(value);
      return undefined;
    } catch {
      return text('invalid.json');
    }
  });

  const types = validator((value) => {
    if (isEmpty(value)) return undefined;
    try {
      const wrong = Object.entries(parseObject(value)).find(([, type]) => !COLUMN_TYPES.includes(type));
      if (!wrong) return undefined;
      return text('invalid.type', { column: wrong[0], types: COLUMN_TYPES.join(', ') });
    } catch {
      return text('invalid.types', { types: COLUMN_TYPES.join(', ') });
    }
  });

  const quantiles = validator((value) => {
    if (isEmpty(value)) return undefined;
    const list = Array.isArray(value) ? value : String(value).split(',');
    const good =
      list.length > 0 && list.every((q) => String(q).trim() !== '' && Number(q) > 0 && Number(q) < 1);
    return good ? undefined : text('invalid.quantiles');
  });

  const url = validator((value) => {
    if (isEmpty(value)) return undefined;
    try {
      const { protocol, username } = new URL(value);
      if (protocol !== 'http:' && protocol !== 'https:') return text('invalid.url');
      return username === '' ? undefined : text('invalid.urlUser');
    } catch {
      return text('invalid.url');
    }
  });

  const property = validator((value) =>
    isEmpty(value) || String(value).trim() ? undefined : text('invalid.required'),
  );

  /* A value while its own dialog is open is in the form, else in the node. */
  function current(node, name) {
    const stack = RED.editor.getEditStack ? RED.editor.getEditStack() : [];
    const open = stack.length > 0 && stack[stack.length - 1].id === node.id;
    const prefix = node._def && node._def.category === 'config' ? 'node-config-input-' : 'node-input-';
    const input = open ? $(`#${prefix}${name}`) : $();
    if (input.length === 0) return node[name];
    return input.is(':checkbox') ? input.is(':checked') : input.val();
  }

  function requiredWhen(name, wanted, then) {
    return function (value, opt) {
      if (current(this, name) !== wanted) return true;
      if (isEmpty(value))
        return opt && opt.label ? `${opt.label}: ${text('invalid.required')}` : text('invalid.required');
      return then ? then.call(this, value, opt) : true;
    };
  }

  const tableDefaults = () => ({
    source: { value: 'value' },
    table: {
      value: 'payload',
      label: text('label.table'),
      validate: RED.validators.typedInput({ typeField: 'tableType', allowUndefined: true }),
    },
    tableType: { value: 'msg' },
  });

  /* The rows "Input" and "Table": a value in a property, or a file on disk. */
  function tableRows(node) {
    const table = $('#node-input-table');
    // A flow written by hand may leave these out.
    if (node.table === undefined) table.val('payload');
    if (node.tableType === undefined) $('#node-input-tableType').val('msg');
    table.typedInput({ default: 'msg', types: TABLE_TYPES, typeField: $('#node-input-tableType') });
    $('#node-input-source')
      .on('change', function () {
        const file = $(this).val() === 'file';
        $('#tabular-table-label').text(text(file ? 'label.path' : 'label.table'));
        $('.tabular-value-tip').toggle(!file);
        RED.tray.resize();
      })
      .trigger('change');
  }

  /* Rows of class `tabular-when-<name>-<value>` are shown while the field has that value. */
  function showWhen(prefix, name, values) {
    const input = $(`#${prefix}${name}`);
    const update = () => {
      const value = input.is(':checkbox') ? String(input.is(':checked')) : String(input.val() || '');
      for (const other of values) $(`.tabular-when-${name}-${other}`).toggle(other === value);
      RED.tray.resize();
    };
    input.on('change', update);
    update();
  }

  /* The fold is open from the start where something in it was changed or is wrong. */
  function advanced(node, names) {
    const defaults = node._def.defaults;
    const same = (a, b) => JSON.stringify(isEmpty(a) ? '' : a) === JSON.stringify(isEmpty(b) ? '' : b);
    const differs = (name) =>
      node[name] !== undefined && !same(node[name], defaults[name].value) && node[name] !== '_ADD_';
    const wrong = (name) =>
      (node.validationErrors || []).some((e) => String(e).includes(defaults[name].label || '\n'));
    $('.tabular-advanced')
      .prop(
        'open',
        names.some((name) => differs(name) || wrong(name)),
      )
      .on('toggle', () => RED.tray.resize());
  }

  /* Editor for an optional JSON object: an empty one is shown as {} and kept as nothing. */
  function jsonInputs(names) {
    for (const name of names) {
      const input = $(`#node-input-${name}`);
      const value = input.val();
      input.typedInput({ type: 'json', types: ['json'] });
      input.typedInput('value', value === '' ? '{}' : value);
    }
  }

  function saveJsonInputs(names) {
    for (const name of names) {
      const input = $(`#node-input-${name}`);
      if (/^\s*\{\s*\}\s*$/.test(input.val())) input.val('');
    }
  }

  /* Suggestions under an input; what is typed freely stays allowed. */
  function suggest(input, list) {
    const id = `${input.attr('id')}-suggestions`;
    $(`#${id}`).remove();
    const data = $('<datalist>', { id }).insertAfter(input);
    for (const { value, label } of list) $('<option>', { value, label }).appendTo(data);
    input.attr('list', id);
  }

  function fetchList(path, then) {
    $.getJSON(`tabular-prediction/${encodeURIComponent(path.id)}/${path.what}`).done(then);
  }

  function suggestColumns(node, inputs) {
    fetchList({ id: node.id, what: 'columns' }, (names) => {
      const list = names.map((value) => ({ value, label: value }));
      for (const name of inputs) suggest($(`#node-input-${name}`), list);
      $('.tabular-columns-tip').toggle(list.length === 0);
    });
  }

  /* Follows the chosen config node; `what` is models or versions. */
  function followConfig(what, then) {
    const input = $('#node-input-config');
    const update = () => {
      const id = input.val();
      if (id && id !== '_ADD_') fetchList({ id, what }, then);
    };
    input.on('change', update);
    update();
  }

  /* The one score that models of a task are mostly told apart by. */
  function scoreOf({ accuracy, r2 }) {
    if (Number.isFinite(accuracy)) return `accuracy ${accuracy.toFixed(3)}`;
    return Number.isFinite(r2) ? `R² ${r2.toFixed(3)}` : '';
  }

  function suggestModels() {
    followConfig('models', (cards) => {
      const label = ({ task, target, rows, scores }) =>
        [
          `${text(`task.${task}`)}: ${target}`,
          rows ? text('rows', { rows: rows.toLocaleString() }) : '',
          scoreOf(scores || {}),
        ]
          .filter((part) => part !== '')
          .join(', ');
      suggest(
        $('#node-input-model'),
        cards.map((card) => ({ value: card.name, label: label(card) })),
      );
      $('#tabular-models-tip').toggle(cards.length === 0);
    });
  }

  function suggestVersions() {
    followConfig('versions', ({ versions, defaultVersion }) => {
      const label = (value) => (value === defaultVersion ? `${value} (${text('default')})` : value);
      suggest(
        $('#node-input-modelVersion'),
        versions.map((value) => ({ value, label: label(value) })),
      );
    });
  }

  RED.tabularPrediction = {
    category: 'tabular prediction',
    colours,
    text,
    current,
    validators: { number, json, types, quantiles, url, property, requiredWhen },
    tableDefaults,
    tableRows,
    showWhen,
    advanced,
    jsonInputs,
    saveJsonInputs,
    suggestColumns,
    suggestModels,
    suggestVersions,
  };
})();
