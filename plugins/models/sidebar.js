import { answerMachine, importModel, isLeaving, modelActions, whileThere } from './actions';
import { whileDrawn } from './costs';
import { bdi, el, icon, mark, smallButton, text, verdict, whenReleased } from './dom';
import { modelList, standing } from './list';
import { liveView } from './live';
import { machineName, machineStanding, machineView } from './machines';
import { modelSections, showLiveVersions } from './model';
import { tryIt } from './try';

/*
 * The sidebar Models, with the machines of anomaly nodes: what is shown, when it is fetched. Values are fetched only while
 * they can be seen; a notice of the runtime says that some have changed, and holds none.
 */

const ID = 'tabular-models';
const TOPIC = 'tabular-prediction/changed';
/* A burst of notices is one fetch, milliseconds. */
const GATHER_MS = 400;

const at = (...parts) => `tabular-prediction/${parts.map(encodeURIComponent).join('/')}`;

function sidebar() {
  /* The opened model or machine, or undefined for the list. */
  let opened;
  let services = [];
  /* The anomaly nodes. */
  let nodes = [];
  let isVisible = false;
  let isStale = true;
  let timer;
  let shownCard = '';
  let live;
  /* The fetches, counted: an answer that an earlier fetch got is older. */
  let fetches = 0;
  let shownFetch = 0;
  /* Of what the list shows, how often it has changed, and which of these changes are shown. */
  const changed = { models: 1, machines: 1 };
  const had = { models: 0, machines: 0 };

  const body = el('div', { class: 'tabular-body' });
  const search = el('input', {
    type: 'text',
    class: 'tabular-search',
    placeholder: text('list.search'),
    'aria-label': text('list.search'),
    oninput: () => drawList(),
  });
  const iconButton = (name, key, onclick) =>
    smallButton(undefined, icon(name), onclick, {
      class: 'tabular-icon',
      ...{ title: text(key), 'aria-label': text(key) },
    });
  const bar = el('div', { class: 'tabular-bar-top' });
  const root = el('div', { class: 'tabular-models' }, bar, body);

  function failed({ status, responseJSON }) {
    const key = { 401: 'failed.rights', 403: 'failed.rights', 404: 'failed.gone' }[status];
    const said = key ? text(key) : (responseJSON && responseJSON.message) || text('failed.away');
    if (key === undefined && body.querySelector('.tabular-list, .tabular-facts, .tabular-machine')) {
      // What was known stays to be seen.
      body.querySelector('.tabular-away')?.remove();
      body.prepend(el('p', { class: 'tabular-note tabular-away', role: 'status' }, said));
      return;
    }
    body.replaceChildren(
      el('p', { class: 'tabular-none' }, icon('exclamation-circle'), el('span', {}, said)),
    );
    shownCard = '';
  }

  /* The line that has the focus keeps it. */
  function drawList(from) {
    const { activeElement } = document;
    const { service, model } = from || (body.contains(activeElement) ? activeElement.dataset : {});
    const top = body.scrollTop;
    body.replaceChildren(modelList(services, nodes, search.value, open, openMachine));
    body.scrollTop = top;
    [...body.querySelectorAll('.tabular-model')]
      .find((line) => line.dataset.service === service && line.dataset.model === model)
      ?.focus();
  }

  function showList() {
    const from = opened;
    opened = undefined;
    shownCard = '';
    bar.replaceChildren(
      search,
      iconButton('upload', 'action.import', () => importModel(services, open)),
      iconButton('refresh', 'list.refresh', refresh),
    );
    drawList(from && { service: from.service ?? from.node.id, model: from.name ?? from.key ?? '' });
    // Its numbers may have changed since it was last shown.
    body.firstChild.classList.add('tabular-busy');
    refresh();
  }

  function open(service, name) {
    opened = { service, name };
    shownCard = '';
    const known = services.find(({ id }) => id === service)?.models.find((one) => one.name === name);
    const back = iconButton('chevron-left', 'model.back', showList);
    bar.replaceChildren(
      back,
      ...(known ? [mark(standing(known))] : []),
      el('h2', { title: name }, bdi(name)),
    );
    body.replaceChildren();
    back.focus();
    refresh();
  }

  /* @param key of a machine; null where all readings are of one */
  function openMachine(node, key) {
    opened = { node, key };
    const mine = opened;
    const columns = [];
    const name = machineName(node, key);
    const known = node.machines.find((one) => one.key === key);
    const back = iconButton('chevron-left', 'model.back', showList);
    bar.replaceChildren(back, mark(machineStanding(known)), el('h2', { title: name }, bdi(name)));
    const view = machineView(node, {
      act: (what, data) => answerMachine(node, { key: key ?? undefined, ...data }, what, refresh),
      look(column) {
        columns.unshift(column);
        refresh();
      },
    });
    Object.assign(mine, {
      query: () => $.param({ ...(key !== null && { key }), column: columns.slice(0, 6) }, true),
      show(machine) {
        body.querySelector('.tabular-away')?.remove();
        bar.querySelector('.tabular-mark')?.replaceWith(mark(machineStanding(machine)));
        view.show(machine);
        if (view.root.parentNode !== body) {
          body.replaceChildren(view.root);
        }
      },
    });
    body.replaceChildren();
    back.focus();
    refresh();
  }

  /* The whole model where it is another one than before, else its live part alone: a form that is being filled in stays. */
  function showModel(shown, watch) {
    const { live: { promised, rows } = {}, decayed, unsure, isNew } = watch || {};
    // What the version before did says nothing of this one.
    const stands = standing({
      ...shown.card,
      live: isNew ? undefined : { promised, rows, decayed, unsure },
    });
    const next = JSON.stringify(shown.card);
    body.querySelector('.tabular-away')?.remove();
    bar.querySelector('.tabular-mark')?.remove();
    bar.firstChild.after(mark(stands));
    if (next === shownCard) {
      body.querySelector('.tabular-verdict').replaceWith(verdict(stands));
      live.show(watch);
      showLiveVersions(body, (watch || {}).versions);
      return;
    }
    shownCard = next;
    const top = body.scrollTop;
    const focused = document.activeElement;
    const isSelected = String(document.getSelection()) === focused.value;
    const { service } = opened;
    live = liveView(shown.card);
    live.show(watch);
    const sections = modelSections(shown, {
      live: live.root,
      form: tryIt(service, shown),
      ...modelActions(service, shown.card, {
        refresh,
        close: showList,
        open: (name) => open(service, name),
      }),
    });
    whileDrawn(() => body.replaceChildren(verdict(stands), ...sections.filter(Boolean)));
    showLiveVersions(body, (watch || {}).versions);
    body.scrollTop = top;
    focusAgain(focused, isSelected);
  }

  /* What had the focus has it again, drawn anew: a field goes on where it was being typed into, or is whole selected, as it was. */
  function focusAgain({ dataset: { keep }, value }, isSelected) {
    const field = keep && [...body.querySelectorAll('[data-keep]')].find((one) => one.dataset.keep === keep);
    if (!field) {
      return;
    }
    field.focus();
    if (field.type !== 'number') {
      return;
    }
    if (field.value === value && !isSelected) {
      // A field of numbers knows no place in its text.
      field.type = 'text';
      field.setSelectionRange(value.length, value.length);
      field.type = 'number';
    } else {
      // As a field that Tab goes to, so that what is typed next takes its place.
      field.select();
    }
  }

  function refresh() {
    // What was asked for before may not know what has just been changed here.
    shownFetch = fetches + 1;
    changed.models++;
    changed.machines++;
    fetchChanged();
  }

  function fetchChanged() {
    if (!isVisible || isLeaving()) {
      isStale = true;
      return;
    }
    isStale = false;
    const mine = opened;
    const fetch = ++fetches;
    /* Shows what was answered, unless something newer was, or is opened. */
    const shows =
      (show) =>
      (...answers) =>
        whenReleased(() => {
          if (mine === opened && fetch >= shownFetch) {
            shownFetch = fetch;
            show(...answers);
          }
        });
    if (mine === undefined) {
      const asked = { ...changed };
      $.when(
        asked.models > had.models ? $.getJSON(at('models')) : [services],
        asked.machines > had.machines ? $.getJSON(at('anomalies')) : [nodes],
      )
        .done(
          shows((found, machines) => {
            Object.assign(had, asked);
            showServices(found, machines);
          }),
        )
        .fail(shows(failed));
      return;
    }
    if (mine.node !== undefined) {
      $.getJSON(`${at('anomalies', mine.node.id, 'machine')}?${mine.query()}`)
        .done(shows(mine.show))
        .fail(shows(failed));
      return;
    }
    whileThere($.getJSON(`${at('sidebar', mine.service, 'model')}?${$.param({ name: mine.name })}`))
      .done((shown) => {
        const show = shows((watch) => showModel(shown, watch));
        if (shown.watched) {
          whileThere($.getJSON(at('watch', mine.name)))
            .done(show)
            .fail(shows(failed));
        } else {
          show();
        }
      })
      .fail(shows(failed));
  }

  function showServices([found], [machines]) {
    const isSame = JSON.stringify([found, machines]) === JSON.stringify([services, nodes]);
    services = found;
    nodes = machines;
    if (!isSame || !body.querySelector('.tabular-list') || body.querySelector('.tabular-away')) {
      drawList();
    } else {
      body.firstChild.classList.remove('tabular-busy');
    }
  }

  function noticed(_topic, { model, node, ...has } = {}) {
    changed.models += Number(has.models === true);
    changed.machines += Number(has.machines === true);
    if (opened === undefined && has.models !== true && has.machines !== true) {
      return;
    }
    const isOther = node === undefined ? model !== opened?.name : node !== opened?.node?.id;
    if (opened === undefined || (model ?? node) === undefined || !isOther) {
      clearTimeout(timer);
      timer = setTimeout(fetchChanged, GATHER_MS);
    }
  }

  new IntersectionObserver((entries) => {
    isVisible = entries.at(-1).isIntersecting;
    if (isVisible && isStale) {
      refresh();
    }
  }).observe(root);
  RED.comms.subscribe(TOPIC, noticed);
  showList();
  return root;
}

const label = text('label');
RED.sidebar.addTab({
  id: ID,
  label,
  name: text('name'),
  iconClass: 'fa fa-line-chart',
  content: $(sidebar()),
  enableOnEdit: true,
  action: 'tabular-prediction:show-models',
});
RED.actions.add('tabular-prediction:show-models', () => RED.sidebar.show(ID));
