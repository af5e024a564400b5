/* global RED, $ */
/* The validators of the dialogs, each with a reason. Loaded by each dialog; the first to come counts. */
(function () {
  'use strict';
  const shared = (RED.tabularPrediction = RED.tabularPrediction || {});
  if (shared.validators) {
    return;
  }

  const CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config:';
  const COLUMN_TYPES = ['number', 'integer', 'bigint', 'boolean', 'text', 'date', 'date-dmy', 'date-mdy'];

  const text = (key, values) => RED._(CATALOGUE + key, values);
  const hasEnvironment = (value) => typeof value === 'string' && /\$\{[^}]+\}/.test(value);
  const isEmpty = (value) => value === undefined || value === null || value === '';

  /* A validator of Node-RED 3 and later: true, or the reason. `check` answers a reason or nothing. */
  function validator(check) {
    return function (value, opt) {
      if (hasEnvironment(value)) {
        return true;
      }
      const reason = check.call(this, value);
      if (reason === undefined) {
        return true;
      }
      return opt && opt.label ? `${opt.label}: ${reason}` : reason;
    };
  }

  function number({ min, max, integer, required }) {
    return validator((value) => {
      if (isEmpty(value)) {
        return required ? text('invalid.required') : undefined;
      }
      const n = Number(value);
      if (!Number.isFinite(n) || (integer && !Number.isInteger(n))) {
        return text(integer ? 'invalid.integer' : 'invalid.number');
      }
      if (min !== undefined && n < min) {
        return text('invalid.min', { min });
      }
      if (max !== undefined && n > max) {
        return text('invalid.max', { max });
      }
      return undefined;
    });
  }

  function parseObject(value) {
    const parsed = typeof value === 'string' ? JSON.parse(value) : value;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      throw new Error();
    }
    return parsed;
  }

  const json = validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    try {
      parseObject(value);
      return undefined;
    } catch {
      return text('invalid.json');
    }
  });

  const types = validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    try {
      const wrong = Object.entries(parseObject(value)).find(([, type]) => !COLUMN_TYPES.includes(type));
      if (!wrong) {
        return undefined;
      }
      return text('invalid.type', { column: wrong[0], types: COLUMN_TYPES.join(', ') });
    } catch {
      return text('invalid.types', { types: COLUMN_TYPES.join(', ') });
    }
  });

  const quantiles = validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    const list = Array.isArray(value) ? value : String(value).split(',');
    const good =
      list.length > 0 && list.every((q) => String(q).trim() !== '' && Number(q) > 0 && Number(q) < 1);
    return good ? undefined : text('invalid.quantiles');
  });

  const timezone = validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    try {
      new Intl.DateTimeFormat('en-US', { timeZone: String(value).trim() });
      return undefined;
    } catch {
      return text('invalid.timezone');
    }
  });

  const url = validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    try {
      const { protocol, username } = new URL(value);
      if (protocol !== 'http:' && protocol !== 'https:') {
        return text('invalid.url');
      }
      return username === '' ? undefined : text('invalid.urlUser');
    } catch {
      return text('invalid.url');
    }
  });

  const word = validator((value) =>
    isEmpty(value) || /^[\w.-]+$/.test(String(value).trim()) ? undefined : text('invalid.word'),
  );

  const property = validator((value) =>
    isEmpty(value) || String(value).trim() ? undefined : text('invalid.required'),
  );

  /* A value while its own dialog is open is in the form, else in the node. */
  function current(node, name) {
    const stack = RED.editor.getEditStack ? RED.editor.getEditStack() : [];
    const open = stack.length > 0 && stack[stack.length - 1].id === node.id;
    const input = open ? $(`#${shared.prefixOf(node.type)}${name}`) : $();
    if (input.length === 0) {
      return node[name];
    }
    return input.is(':checkbox') ? input.is(':checked') : input.val();
  }

  function requiredWhen(name, wanted, then) {
    return function (value, opt) {
      if (current(this, name) !== wanted) {
        return true;
      }
      if (isEmpty(value)) {
        return opt && opt.label ? `${opt.label}: ${text('invalid.required')}` : text('invalid.required');
      }
      return then ? then.call(this, value, opt) : true;
    };
  }

  Object.assign(shared, {
    text,
    isEmpty,
    validators: { number, json, types, quantiles, timezone, url, word, property, requiredWhen },
  });
})();
