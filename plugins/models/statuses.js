import { STATUS_WIDTH, widthOfText } from '../../src/runtime/status/in-words';
import { text } from './dom';

/*
 * The statuses of the nodes in the language of the editor. The runtime writes them in its own, which is English where
 * neither the computer nor `lang` of settings.js says otherwise: such texts are found in the catalogue, and told anew.
 */

const CATALOGUE = 'node-red-contrib-tabular-prediction/tabular-config';
const MARK = /__(\w+)__/g;
/* Marks whose values are texts of the catalogue themselves. */
const NESTED = ['text', 'loss', 'time', 'measure'];
const NUMBER = /^-?(?:0|[1-9]\d{0,2}(?:,\d{3})*|[1-9]\d*)(?:\.\d+)?$/;
const MAYBE_THOUSANDS = /^[1-9]\d{0,2}(?:[.,]\d{3})+$/;
const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];

const leavesOf = (catalogue, path) =>
  Object.entries(catalogue).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}.${key}`, value]] : leavesOf(value, `${path}.${key}`),
  );

/* What an English text may be of, the one with the most words of its own first. */
function patternsOf(catalogue) {
  return leavesOf(catalogue, 'status')
    .map(([key, english]) => {
      const literal = english.replace(MARK, '');
      const written = english.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(MARK, '(?<$1>.+?)');
      return { key, english, length: literal.length, pattern: new RegExp(`^${written}$`, 'u') };
    })
    .sort((a, b) => b.length - a.length);
}

function numberIn(value, language) {
  if (!NUMBER.test(value)) {
    return value;
  }
  const digits = (value.split('.')[1] || '').length;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(language, options).format(Number(value.replaceAll(',', '')));
}

/* Such as `3 wks`. */
function durationIn(value, language) {
  const count = Number.parseFloat(value.replaceAll(',', ''));
  for (const unit of UNITS) {
    for (const unitDisplay of ['short', 'long']) {
      const options = { style: 'unit', unit, unitDisplay };
      if (new Intl.NumberFormat('en-US', options).format(count) === value) {
        return new Intl.NumberFormat(language, options).format(count);
      }
    }
  }
  return value;
}

/*
 * @param word a text of the catalogue in the language of the editor, by its key
 * @returns translates an English status; any other text stays as it is
 */
export function statusTexts(catalogue, word, language) {
  const patterns = patternsOf(catalogue);
  function translated(status) {
    const found = patterns.find(({ pattern }) => pattern.test(status));
    if (found === undefined) {
      return status;
    }
    const { key, english, pattern } = found;
    const own = word(key);
    const values = pattern.exec(status).groups || {};
    return own.replace(MARK, (mark, name) => {
      const value = values[name];
      const nested = name === 'time' ? durationIn(value, language) : value;
      const told = NESTED.includes(name) ? translated(nested) : value;
      // A text that reads alike may be the runtime's in this language, where 1.234 is more than a thousand.
      const isSure = own !== english || !MAYBE_THOUSANDS.test(value);
      return told === value && isSure ? numberIn(value, language) : told;
    });
  }
  return (status) => {
    const own = translated(status);
    return widthOfText(own) <= STATUS_WIDTH ? own : status;
  };
}

/* Made with the first status: the editor reads the catalogues of nodes after this script. */
let inEditor;
function told(status) {
  inEditor ??= statusTexts(
    i18next.getResource('en-US', CATALOGUE, 'status'),
    (key) => RED._(`${CATALOGUE}:${key}`),
    text('language'),
  );
  return inEditor(status);
}

// Afterwards: the editor, which may have subscribed later, gives the node the status first.
RED.comms.subscribe('status/#', (topic, { text } = {}) =>
  queueMicrotask(() => {
    const node = RED.nodes.node(topic.split('/')[1]);
    if (text && node?.status && node.type.startsWith('tabular-')) {
      node.status.text = told(String(text));
      Object.assign(node, { dirtyStatus: true, dirty: true });
      RED.view.redrawStatus(node);
    }
  }),
);
