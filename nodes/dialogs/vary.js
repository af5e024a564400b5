import { wordOf } from './dialog';
import { picker } from './picker';
import { modelColumns } from './suggestions';

/* The columns that advice may change: a line for each, in a list that the flow keeps. */

const VARY_PARTS = ['column', 'from', 'to', 'step', 'cost', 'price'];

/* A line for each column that may be changed. */
let varied = 0;
export function varyList(node, form, place) {
  const name = place.attr('data-tabular-vary');
  const list = place.editableList({
    sortable: true,
    removable: true,
    addItem(container, index, entry) {
      container.addClass('tabular-vary');
      const id = `tabular-vary-${varied++}`;
      for (const part of VARY_PARTS) {
        const word = wordOf(node.type, `vary.${part}`);
        const isColumn = part === 'column';
        const input = $('<input type="text">')
          .attr({ 'data-part': part, 'aria-label': word, id: isColumn ? id : `${id}-${part}` })
          .attr(isColumn ? { placeholder: word } : { inputmode: 'decimal' })
          .val(entry[part] ?? '');
        if (isColumn) {
          container.append(input);
          picker(input, { name: id, fetch: (then) => modelColumns(node, then) });
        } else {
          container.append($('<label>').append($('<span>').text(word), input));
        }
      }
    },
    removeItem: () => form.trigger('change'),
  });
  list.editableList('addItems', Array.isArray(node[name]) ? node[name] : []);
  const wrong = place.closest('.form-row').find('[data-tabular-wrong]');
  // What Node-RED checks itself it checks by field; these lines are one value.
  const check = () => {
    const reason = node._def.defaults[name].validate.call(node, varyOf(list));
    wrong.text(reason === true ? '' : reason).prop('hidden', reason === true);
    list.closest('.red-ui-editableList').toggleClass('input-error', reason !== true);
  };
  list.on('input', () => form.trigger('change'));
  form.on('change', check);
  check();
}

/* What the lines hold; a number is kept as one, and what is empty is left out. */
export function varyOf(list) {
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
