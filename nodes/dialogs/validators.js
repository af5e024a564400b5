import { prefixOf } from './dialog';

/* The validators of the dialogs, each with a reason. */

const CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config:';

export const text = (key, values) => RED._(CATALOGUE + key, values);
const hasEnvironment = (value) => typeof value === 'string' && /\$\{[^}]+\}/.test(value);
export const isEmpty = (value) => value === undefined || value === null || value === '';

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

function number({ min, max, integer }) {
  return validator((value) => {
    if (isEmpty(value) || String(value).trim() === '') {
      return undefined;
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

const object = validator((value) => {
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

/* `known`: the types that a column may be given. */
const types = (known) =>
  validator((value) => {
    if (isEmpty(value)) {
      return undefined;
    }
    try {
      const wrong = Object.entries(parseObject(value)).find(([, type]) => !known.includes(type));
      if (!wrong) {
        return undefined;
      }
      return text('invalid.type', { column: wrong[0], types: known.join(', ') });
    } catch {
      return text('invalid.types', { types: known.join(', ') });
    }
  });

/* What has commas between, or a JSON array; empty where it is neither. */
function listIn(value) {
  if (!value.trim().startsWith('[')) {
    return value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }
  try {
    return JSON.parse(value);
  } catch {
    return [];
  }
}

const quantiles = validator((value) => {
  if (isEmpty(value)) {
    return undefined;
  }
  const list = Array.isArray(value) ? value : listIn(String(value));
  const good = list.length > 0 && list.every((q) => q !== '' && Number(q) > 0 && Number(q) < 1);
  return good ? undefined : text('invalid.quantiles');
});

/* Columns that may be changed. `numbers`: what each number of an entry must be, by src/settings/kinds.ts. */
const TOO_LOW = { step: 'invalid.varyStep', cost: 'invalid.varyCost' };
function whyNotVary(all, numbers) {
  const isSaid = (value) => !isEmpty(value) && !hasEnvironment(value);
  for (const [place, { column, ...entry }] of all.entries()) {
    if (isEmpty(column)) {
      return text('invalid.varyColumn');
    }
    const said = Object.keys(numbers).filter((part) => isSaid(entry[part]));
    const wrong = said.find((part) => !Number.isFinite(Number(entry[part])));
    const low = said.find((part) => {
      const { above = -Infinity, min = -Infinity } = numbers[part];
      return Number(entry[part]) <= above || Number(entry[part]) < min;
    });
    const { from, to } = entry;
    const reason =
      (all.findIndex((one) => one.column === column) < place && text('invalid.varyTwice', { column })) ||
      (wrong && text('invalid.varyNumber', { column, value: entry[wrong] })) ||
      (isSaid(from) &&
        isSaid(to) &&
        Number(from) > Number(to) &&
        text('invalid.varyBounds', { column, from, to })) ||
      (low && text(TOO_LOW[low], { column }));
    if (reason) {
      return reason;
    }
  }
  return undefined;
}
const vary = (numbers) =>
  validator((value) => (Array.isArray(value) ? whyNotVary(value, numbers) : undefined));

const zone = validator((value) => {
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

/* Durations: 90s, 10m, 1h 30m, 1d. The same as the runtime reads (src/series/settings.ts). */
const DURATION = /^(?:\d+(?:\.\d+)?\s*(?:ms|s|sec|m|min|h|d|w)\s*)+$/i;
const isDuration = (text) => DURATION.test(text.trim()) && /[1-9]/.test(text);
const isAuto = (value) => isEmpty(value) || String(value).trim() === 'auto';

const duration = ({ zero = false } = {}) =>
  validator((value) =>
    isAuto(value) || isDuration(String(value)) || (zero && /^0\s*[a-z]*$/i.test(String(value).trim()))
      ? undefined
      : text('invalid.duration'),
  );

/* Several with commas between; with `ranges` also from..to. */
function durations({ ranges }) {
  const known = (part) => isDuration(part) || (ranges && isRange(part));
  return validator((value) =>
    isAuto(value) || String(value).split(/[,;]/).every(known)
      ? undefined
      : text(ranges ? 'invalid.ahead' : 'invalid.durations'),
  );
}

/* From..to, in steps of the beginning; or from..to/step. */
function isRange(part) {
  const [, ...ends] = /^(.+?)\.\.+(.+?)(?:\/(.+))?$/.exec(part) || [];
  return ends.length > 0 && ends.every((end) => end === undefined || isDuration(end));
}

/* When a train set leaves: auto, never, a time, or a number of rows. */
const schedule = validator((value) =>
  isAuto(value) ||
  /^never$/i.test(String(value).trim()) ||
  /^0*[1-9]\d*\s*(?:rows?)?$/i.test(String(value).trim()) ||
  isDuration(String(value))
    ? undefined
    : text('invalid.train'),
);

const url = validator((value) => {
  if (isEmpty(value)) {
    return undefined;
  }
  try {
    const { username } = new URL(value);
    if (!/^\s*https?:\/\/[^\s/\\]/i.test(value)) {
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

/* A value while its own dialog is open is in the form, else in the node. */
function current(node, name) {
  const stack = RED.editor.getEditStack ? RED.editor.getEditStack() : [];
  const open = stack.length > 0 && stack[stack.length - 1].id === node.id;
  const input = open ? $(`#${prefixOf(node.type)}${name}`) : $();
  if (input.length === 0) {
    return node[name];
  }
  return input.is(':checkbox') ? input.is(':checked') : input.val();
}

/* Has to be filled in where another field has this value, or one of these; may be where it has one of `optional`. */
function requiredWhen(name, wanted, then, optional = []) {
  return function (value, opt) {
    const other = current(this, name);
    const mayBeEmpty = optional.includes(other);
    if (!wanted.includes(other) && (!mayBeEmpty || isEmpty(value))) {
      return true;
    }
    if (isEmpty(value)) {
      return opt && opt.label ? `${opt.label}: ${text('invalid.required')}` : text('invalid.required');
    }
    return then ? then.call(this, value, opt) : true;
  };
}

/*
 * A topic with one + in it, or with {key} and {column}, where another field says that it is one. The same as
 * src/messages/paths.ts, and without those two as src/runtime/series/read-messages.ts.
 */
const TOPIC =
  /^(?:(?=[^+]*\+[^+]*$)(?:(?:[^+#/{}]*|\+)\/)*(?:[^+#/{}]*|\+|#)|(?=.*\{(?:key|column)\})(?!.*\{key\}.*\{key\})(?!.*\{column\}.*\{column\})(?:(?:[^+#/{}]*|\+|\{key\}|\{column\})\/)*(?:[^+#/{}]*|\+|#|\{key\}|\{column\}))$/;
const topicWhen = (typeField) =>
  validator(function (value) {
    const isTopic = current(this, typeField) === 'topic' && !isEmpty(value);
    return !isTopic || TOPIC.test(String(value).trim()) ? undefined : text('invalid.topic');
  });

/* Names of columns without the one that another field holds. */
const listWithout = (field) =>
  validator(function (value) {
    const names = Array.isArray(value) ? value : listIn(String(value ?? ''));
    const other = current(this, field);
    return names.some((name) => !isEmpty(other) && name === String(other).trim())
      ? text('invalid.column', { column: other })
      : undefined;
  });

export const validators = {
  number,
  object,
  types,
  quantiles,
  vary,
  zone,
  duration,
  durations,
  schedule,
  url,
  word,
  listWithout,
  requiredWhen,
  topicWhen,
};
