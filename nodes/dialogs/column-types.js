import { text } from './validators';

/*
 * The list under the field Column types: a line for each column that the node was sent, with what was found in it.
 * A choice is written into the field, which stays the truth: what is typed there shows in the list.
 */

/* More columns than these are typed into the field. */
const MAX_LINES = 100;

/* The types in the field, undefined where it holds something else, such as an environment variable. */
function parse(value) {
  try {
    const types = JSON.parse(value || '{}');
    return typeof types === 'object' && types !== null && !Array.isArray(types) ? types : undefined;
  } catch {
    return undefined;
  }
}

function line(id, column, given, found, known) {
  const first = found ? text('types.found', { type: text(`types.${found}`) }) : text('types.auto');
  const select = $('<select>').attr('id', id);
  $('<option>').val('').text(first).appendTo(select);
  for (const type of known) {
    $('<option>')
      .val(type)
      .text(text(`types.${type}`))
      .appendTo(select);
  }
  select.val(known.includes(given) ? given : '');
  const label = $('<label>').attr('for', id).text(column);
  return { select, row: $('<div class="tabular-type">').append(label, select) };
}

/*
 * `input`: the field. `seen`: the columns, and what was found in each, as {column: type}; '' where not known.
 * `known`: the types that a column may be given.
 */
export function columnTypes(input, seen, known) {
  const list = $('<div class="tabular-types" role="group">').attr(
    'aria-labelledby',
    `${input.attr('id')}-label`,
  );
  $(`#${input.attr('id')}-error`).before(list);

  function write(column, type) {
    const types = { ...parse(input.val()) };
    delete types[column];
    const next = type === '' ? types : { ...types, [column]: type };
    input.typedInput('value', JSON.stringify(next));
    input.trigger('change');
  }

  function draw() {
    const types = parse(input.val());
    const columns = types ? [...new Set([...Object.keys(seen), ...Object.keys(types)])] : [];
    list.empty().toggle(columns.length > 0);
    columns.slice(0, MAX_LINES).forEach((column, index) => {
      const { row, select } = line(
        `${input.attr('id')}-${index}`,
        column,
        types[column],
        seen[column],
        known,
      );
      select.on('change', (event) => {
        event.stopPropagation();
        write(column, select.val());
      });
      list.append(row);
    });
  }

  input.on('change', () => {
    if (!list.find(':focus').length) {
      draw();
    }
  });
  draw();
}
