/*
 * The markup of the dialogs, written down once: each node's .html lists its rows, and what a row needs (label, unit,
 * tip, place for the reason of an error, the ids that tie them together for a screen reader) is made here. The
 * template element itself stays in the .html, because Node-RED reads from there which node types a file brings.
 */

const PACKAGE = 'node-red-contrib-tabular-prediction';
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text) => String(text).replace(/[&<>"]/g, (mark) => ENTITIES[mark]);
const attributes = (map) =>
  Object.entries(map)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => ` ${name}="${escape(value)}"`)
    .join('');

/* A word comes from the catalogue of the dialog's own node, else from the one that all share. */
export const wordOf = (type, key, values) =>
  RED._([`${PACKAGE}/${type}:${key}`, `${PACKAGE}/tabular-config:${key}`], values);
export const prefixOf = (type) => (type === 'tabular-config' ? 'node-config-input-' : 'node-input-');

/*
 * The rows of one dialog; labels, choices and what an empty field stands for come with its settings (`defaults`).
 * Options of every row: icon, unit and tip (keys), placeholder (a text, or true for the key of this name), when
 * ("field=value", "field=one|other", "field!=value": shown only then), unless (the task of a model: not shown where
 * the chosen model has it), service (kinds of service: on another it is shown only where it was changed), except (a
 * field whose column is not suggested here), fill (it is filled in as it is shown, where there is one answer only).
 */
function rowsOf(type, defaults) {
  const word = (key) => escape(wordOf(type, key));
  const setting = (name) => defaults[name] || {};
  const labelOf = (name) => (setting(name).label ? escape(setting(name).label) : word(`label.${name}`));
  const when = (condition) => attributes({ 'data-tabular-when': condition });
  const conditions = ({ when: condition, unless, service }) =>
    when(condition) + attributes({ 'data-tabular-unless': unless, 'data-tabular-service': service });
  const icon = (name) => `<i class="fa fa-${name}" aria-hidden="true"></i>`;

  function parts(name, options) {
    const id = prefixOf(type) + name;
    const unit =
      options.unit && `<span class="tabular-unit" id="${id}-unit">${word(`unit.${options.unit}`)}</span>`;
    const tip =
      options.tip &&
      `<div class="form-tips" id="${id}-tip"${attributes({ 'data-tabular-no': options.suggest })}>${word(`tip.${options.tip}`)}</div>`;
    const described = [unit && `${id}-unit`, tip && `${id}-tip`, `${id}-error`].filter(Boolean).join(' ');
    const after = `<div class="tabular-error" id="${id}-error" aria-live="polite"></div>${tip || ''}`;
    return { id, unit: unit || '', after, described };
  }

  function row(name, options, control) {
    const { id, unit, after, described } = parts(name, options);
    const label = options.labels || labelOf(name);
    return `<div class="form-row"${conditions(options)}>
      <label for="${id}" id="${id}-label">${icon(options.icon)} <span>${label}</span></label>
      <div class="tabular-field">${control(id, described)}${unit}</div>${after}</div>`;
  }

  function text(name, options, more = {}) {
    const { placeholder = setting(name).fallback } = options;
    return row(
      name,
      options,
      (id, described) =>
        `<input id="${id}" aria-labelledby="${id}-label" aria-describedby="${described}"${attributes({
          type: 'text',
          placeholder: placeholder === true ? wordOf(type, `placeholder.${name}`) : placeholder,
          'data-tabular-suggest': options.suggest,
          'data-tabular-except': options.except,
          'data-tabular-many': options.many,
          'data-tabular-fill': options.fill,
          ...more,
        })}>`,
    );
  }

  const options = (name, values) =>
    values
      .map((value) => `<option value="${escape(value)}">${word(`${name}.${value || 'none'}`)}</option>`)
      .join('');

  const rows = {
    text,
    number: (name, more) => text(name, more, { inputmode: 'decimal', class: 'tabular-short' }),
    json: (name, more) => text(name, more, { 'data-tabular-json': 'true' }),
    /* A value whose kind is chosen with it, such as a column or a property of the message; kept as `<name>Type`. */
    typed: (name, types, more) =>
      text(name, more, { 'data-tabular-typed': types.join(' ') }) +
      `<input type="hidden" id="${prefixOf(type)}${name}Type">`,
    password: (name, more) => text(name, more, { type: 'password', autocomplete: 'new-password' }),

    /* Its choices are a list, or {group: list}, whose groups are named by a key. */
    select: (name, more) =>
      row(name, more, (id, described) => {
        const values = setting(name).options;
        const inner = Array.isArray(values)
          ? options(name, values)
          : Object.entries(values)
              .map(([group, list]) =>
                group === ''
                  ? options(name, list)
                  : `<optgroup label="${word(group)}" data-tabular-of="${escape(group)}">${options(name, list)}</optgroup>`,
              )
              .join('');
        return `<select id="${id}" aria-labelledby="${id}-label" aria-describedby="${described}">${inner}</select>`;
      }),

    /* Another config node; Node-RED puts a list and its buttons in place of the input. */
    other: (name, more) => row(name, more, (id) => `<input type="text" id="${id}" style="width: 100%">`),

    check: (name, more = {}) => {
      const { id, after, described } = parts(name, more);
      return `<div class="form-row"${conditions(more)}>
        <label class="tabular-check" for="${id}" id="${id}-label"><input type="checkbox" id="${id}" aria-labelledby="${id}-label" aria-describedby="${described}"> <span>${labelOf(name)}</span></label>${after}</div>`;
    },

    /* Several boxes whose ticked values are one list. `whens`: conditions of single boxes, by their value. */
    checks: (name, more) => {
      const id = `${prefixOf(type)}${name}`;
      const box = (value) =>
        `<label class="tabular-check"${when((more.whens || {})[value])}><input type="checkbox" value="${value}"> <span>${word(`${name}.${value}`)}</span></label>`;
      return `<div class="form-row"${conditions(more)}>
        <label id="${id}-label">${icon(more.icon)} <span>${labelOf(name)}</span></label>
        <div class="tabular-group" role="group" aria-labelledby="${id}-label" data-tabular-checks="${name}">${setting(name).options.map(box).join('')}</div></div>`;
    },

    /* Columns that may be changed, a line each: see `varyList` of editor.js. */
    vary: (name, more) => {
      const { id, after } = parts(name, more);
      return `<div class="form-row">
        <label id="${id}-label">${icon(more.icon)} <span>${labelOf(name)}</span></label>
        <ol aria-labelledby="${id}-label" data-tabular-vary="${name}"></ol>
        <div class="form-tips tabular-wrong" role="status" data-tabular-wrong hidden></div>${after}</div>`;
    },

    note: (key, more) =>
      `<div class="form-row"${when(more.when)}><div class="form-tips">${word(`tip.${key}`)}</div></div>`,

    /* The last message of the node, as it was read; empty until the editor has asked for it. */
    lastReading: () => `<div class="form-row"><div class="form-tips" data-tabular-last hidden></div></div>`,

    /* A button with the place where it says what came of it. */
    button: (name, more) =>
      `<div class="form-row"${when(more.when)}><div class="tabular-field">
        <button type="button" class="red-ui-button" id="tabular-${name}">${icon(more.icon)} ${word(`label.${name}`)}</button></div>
        <div class="tabular-result" id="tabular-${name}-result" role="status" aria-live="polite"></div></div>`,

    advanced: (inner) =>
      `<details class="tabular-advanced"><summary>${word('label.advanced')}</summary>${inner.join('')}</details>`,

    name: () => text('name', { icon: 'tag', placeholder: wordOf(type, 'label.name') }),
    config: () => rows.other('config', { icon: 'plug' }) + rows.note('noService', { when: 'config=|_ADD_' }),
    target: (more) =>
      text('target', { icon: 'bullseye', placeholder: true, suggest: 'columns', tip: 'columns', ...more }),
    model: (more) =>
      text('model', { icon: 'cube', placeholder: true, suggest: 'models', tip: 'models', ...more }),
    modelVersion: (more) =>
      text('modelVersion', { icon: 'code-fork', placeholder: true, suggest: 'versions', ...more }),
    ignore: (more) =>
      text('ignore', {
        icon: 'ban',
        placeholder: true,
        suggest: 'columns',
        except: 'target',
        many: true,
        ...more,
      }),
    types: (more) => rows.json('types', { icon: 'list-ol', ...more }),

    /* How cells are read: gaps, words for missing values, dates. */
    cleaning: ({ target } = {}) =>
      (target ? rows.select('missingTarget', { icon: 'eraser', when: target.when }) : '') +
      text('missingWords', { icon: 'question-circle-o', placeholder: true }) +
      rows.select('unreadable', { icon: 'chain-broken' }) +
      text('timezone', { icon: 'globe', placeholder: true }),

    /* The property, context or expression that holds the table. */
    place: (more) =>
      text('table', { icon: 'table', ...more }) + `<input type="hidden" id="${prefixOf(type)}tableType">`,

    /* Where the table is: a value in a property, or a file on disk. */
    table: (more = {}) =>
      rows.select('source', { icon: 'sign-in', when: more.when }) +
      rows.place({
        labels: ['value=table', 'file=path']
          .map((pair) => pair.split('='))
          .map(([source, key]) => `<span${when(`source=${source}`)}>${word(`label.${key}`)}</span>`)
          .join(''),
        ...more,
      }),

    /* A message sequence as one table. */
    collect: () =>
      rows.check('collect') +
      rows.number('collectTimeout', {
        icon: 'clock-o',
        unit: 'seconds',
        when: 'collect=true',
      }),
  };
  return rows;
}

/* Fills the template of a node type; `list` is given the makers of its rows, `defaults` are its settings. */
export function dialog(type, defaults, list) {
  const template = document.querySelector(`script[data-template-name="${type}"]`);
  template.textContent = `<div class="tabular-form">${list(rowsOf(type, defaults)).join('\n')}</div>`;
}
