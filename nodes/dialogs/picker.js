import { soon } from './soon';

/*
 * An input with a list under it, from which a value is picked by mouse or keyboard; any other may be typed as well.
 * The editor's own autoComplete takes the first entry of its list at Enter and Tab, whatever was typed, and tells a
 * screen reader nothing: so only its panel is taken. The keys and roles are those of the combobox of ARIA 1.2.
 */

/* The list is at most this high, and leaves this much room at the edges of the window; pixels. */
const HIGHEST = 260;
const EDGE = 8;

/* Where the list of a field goes: below it, else above, whichever has the room. */
function place(input, height) {
  const { left, top, bottom } = input.getBoundingClientRect();
  const below = window.innerHeight - bottom - EDGE;
  const above = top - EDGE;
  const wanted = Math.min(height, HIGHEST);
  const under = below >= wanted || below >= above;
  const high = Math.min(wanted, under ? below : above);
  return { left, top: under ? bottom : top - high, height: high };
}

/* Names in a field of several, with commas between or as a JSON array; and the one that is being typed. */
function split(value) {
  if (value.trim().startsWith('[')) {
    try {
      return { names: JSON.parse(value), last: '' };
    } catch {
      return { names: [], last: value };
    }
  }
  const parts = value.split(',').map((name) => name.trim());
  const last = parts.pop();
  return { names: parts.filter((name) => name !== ''), last };
}

function join(names) {
  const plain = names.every((name) => name === name.trim() && !/^\[|,/.test(name));
  return plain ? names.join(', ') : JSON.stringify(names);
}

/*
 * `input`: the field. `many`: it holds several values. `fetch(then)` asks for the entries ({value, details: what else
 * is told of it}), each time the list is opened; one with the value that `except()` answers is not offered. `name`: the id
 * of the field, where the input is a part of it.
 * Answers `refresh()`, which asks for the entries at other times.
 */
export function picker(input, { many, fetch, except = () => undefined, name = input.attr('id') }) {
  const id = `${name}-list`;
  const labelId = `${name}-label`;
  let entries = [];
  let shown = [];
  let active = -1;
  // Whether the list holds only what fits the text that is being typed.
  let filtered = false;
  // Whether the list is to open once there is an entry for it: the field was clicked, or has text that none fits yet.
  let isAwaited = false;
  let panel;
  let list;
  /* Where the field was as the list was put beside it. */
  let placed;

  const isOpen = () => panel !== undefined;
  const options = () => list.children();

  function close() {
    isAwaited = false;
    if (!isOpen()) {
      return;
    }
    panel.hide();
    panel = undefined;
    active = -1;
    input.attr({ 'aria-expanded': 'false', 'aria-activedescendant': null });
    $(window).off(`.${id}`);
    input.parents().off(`scroll.${id}`);
  }

  /* The click that opens a list may have brought its field into view: that is told after it is open. */
  function scrolled() {
    const { left, top } = input[0].getBoundingClientRect();
    if (left !== placed.left || top !== placed.top) {
      close();
    }
  }

  function activate(index) {
    active = index;
    options().each((i, option) => {
      $(option).toggleClass('tabular-active', i === index);
      if (i === index) {
        option.scrollIntoView({ block: 'nearest' });
      }
    });
    input.attr('aria-activedescendant', index < 0 ? null : `${id}-${index}`);
  }

  /* The values that stand in a field of several; what is being typed is not one yet. */
  function standing() {
    const { names, last } = split(input.val());
    return filtered || last === '' ? names : [...names, last];
  }

  function pick({ value }) {
    close();
    input
      .val(many ? join([...standing(), value]) : value)
      .trigger('change')
      .trigger('focus');
  }

  /* The entries as they stand in the list; the one that the field holds is marked. */
  function fill() {
    list.empty();
    shown.forEach((entry, index) => {
      const chosen = !many && entry.value === input.val();
      const option = $('<li>', { role: 'option', id: `${id}-${index}`, 'aria-selected': chosen })
        .append($('<span>', { class: 'tabular-option' }).text(entry.value))
        .on('click', () => pick(entry))
        .appendTo(list);
      const details = $('<span>', { class: 'tabular-details' });
      for (const part of entry.details || []) {
        details.append($('<span>').text(part), ' ');
      }
      option.append(' ', details);
    });
  }

  /* What may be picked now: all, or what holds the text that was typed. */
  function fitting() {
    const names = [except(), ...(many ? standing() : [])];
    const typed = many ? split(input.val()).last : input.val();
    const sought = filtered ? typed.trim().toLowerCase() : '';
    return entries.filter(
      ({ value, details }) =>
        !names.includes(value) && [value, ...(details || [])].join(' ').toLowerCase().includes(sought),
    );
  }

  function show(filter) {
    filtered = filter;
    shown = fitting();
    if (shown.length === 0) {
      close();
      isAwaited = true;
      return;
    }
    if (!isOpen()) {
      list = $('<ul>', { id, role: 'listbox', 'aria-labelledby': labelId, class: 'tabular-list' });
      panel = RED.popover.panel(list);
      // The focus stays in the field.
      panel.container.addClass('tabular-panel').on('mousedown', (event) => event.preventDefault());
      input.attr('aria-expanded', 'true');
      $(window).on(`resize.${id}`, close);
      input.parents().on(`scroll.${id}`, scrolled);
    }
    fill();
    // Measured as high as it would be, then put where there is room for it.
    panel.container.css({ display: 'block', height: 'auto', width: input.outerWidth() });
    panel.container.css(place(input[0], panel.container.outerHeight()));
    placed = input[0].getBoundingClientRect();
    activate(shown.findIndex(({ value }) => !many && !filter && value === input.val()));
  }

  /* Asks for the newest entries; a list that is open shows them, and one that was asked for before they came opens. */
  const refresh = soon(() =>
    fetch((newest) => {
      const same = JSON.stringify(newest) === JSON.stringify(entries);
      entries = newest;
      button.toggle(entries.some(({ value }) => value !== except()));
      if ((isOpen() || isAwaited) && !same) {
        const held = shown[active]?.value;
        show(filtered);
        const again = shown.findIndex(({ value }) => value === held);
        if (again >= 0) {
          activate(again);
        }
      }
    }),
  );

  /* Opens the list with all there is. */
  function open() {
    show(false);
    refresh();
  }

  function move(step) {
    if (!isOpen()) {
      open();
      if (isOpen() && active < 0) {
        activate(step > 0 ? 0 : shown.length - 1);
      }
      return;
    }
    const count = shown.length;
    activate(active < 0 ? (step > 0 ? 0 : count - 1) : (active + step + count) % count);
  }

  const KEYS = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => (active < 0 ? close() : pick(shown[active])),
    Escape: close,
  };

  // For the mouse alone: the keyboard has the arrow keys, a screen reader the role of the field.
  const button = $('<span>', { class: 'tabular-open', 'aria-hidden': true })
    .append($('<i>', { class: 'fa fa-caret-down' }))
    .on('mousedown', (event) => event.preventDefault())
    .on('click', () => {
      if (isOpen()) {
        close();
        return;
      }
      input.trigger('focus');
      open();
    })
    .hide();

  input
    .attr({
      role: 'combobox',
      autocomplete: 'off',
      'aria-autocomplete': 'list',
      'aria-expanded': 'false',
      'aria-controls': id,
    })
    .wrap('<div class="tabular-picker">')
    .after(button)
    .on('click', () => (isOpen() ? undefined : open()))
    .on('input', () => show(true))
    .on('blur', close)
    .on('remove', close)
    .on('keydown', (event) => {
      const known = KEYS[event.key];
      // Enter and Escape belong to the dialog while there is no list, and with Ctrl always.
      if (!known || event.ctrlKey || event.metaKey || (!isOpen() && !event.key.startsWith('Arrow'))) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      known();
    });
  refresh();
  return { refresh };
}
