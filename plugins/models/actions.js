import { el, smallButton, text } from './dom';
import { serviceName } from './list';

/* What can be done with a model: choose its threshold, take back, rename, export, import, delete; with a word of warning where it cannot be undone. */

const route = (service, what) => `tabular-prediction/models/${encodeURIComponent(service)}/${what}`;

/*
 * Asks before something is done; `more` stands under the question. Escape and Cancel leave all as it is, Enter in a
 * field does it, and Tab stays inside. `done` answers false where something is missing: then the question stays.
 */
function ask(question, yes, done, more) {
  const before = document.activeElement;
  const close = () => {
    notice.close();
    const { keep } = before.dataset;
    // New numbers may have put another button in its place.
    const again = before.isConnected ? before : document.querySelector(`.tabular-body [data-keep="${keep}"]`);
    again?.focus();
  };
  const agree = () => {
    if (done() !== false) {
      close();
    }
  };
  function typed(event) {
    const places = [...box.querySelectorAll('input, select, button')];
    const [first, last] = [places[0], places.at(-1)];
    const { key, shiftKey, target } = event;
    if (key === 'Escape') {
      close();
    } else if (key === 'Enter' && target.type === 'text') {
      agree();
    } else if (key === 'Tab' && target === (shiftKey ? first : last)) {
      (shiftKey ? last : first).focus();
    } else {
      return;
    }
    event.preventDefault();
  }
  const content = el('div', { class: 'tabular-ask' }, el('p', {}, question), more || '');
  const notice = RED.notify($(content), {
    type: 'warning',
    modal: true,
    fixed: true,
    buttons: [
      { text: text('action.cancel'), click: close },
      {
        text: yes,
        class: 'primary',
        click: agree,
      },
    ],
  });
  const box = content.parentNode;
  box.setAttribute('role', 'alertdialog');
  box.setAttribute('aria-modal', 'true');
  box.setAttribute('aria-label', question);
  box.addEventListener('keydown', typed);
  const first = $(notice)
    .find(more ? 'input, select' : 'button')
    .first();
  first.trigger('focus');
  // Node-RED 5 moves the focus to a button a moment later.
  setTimeout(() => first.trigger('focus'));
}

const refuse = (said) => RED.notify($(el('p', {}, said)), 'error');

function ajax(url, options, then, rights = 'failed.rightsToChange') {
  return $.ajax({ url, ...options })
    .done(then)
    .fail(({ status, responseJSON }) =>
      refuse(
        [401, 403].includes(status)
          ? text(options.method ? rights : 'failed.rights')
          : (responseJSON && responseJSON.message) || text(status === 404 ? 'failed.gone' : 'failed.away'),
      ),
    );
}

const asJson = (data) => ({ method: 'POST', contentType: 'application/json', data: JSON.stringify(data) });

const send = (service, what, data, then) => ajax(route(service, what), asJson(data), then);

/* Renames and deletes under way. What is asked meanwhile under the name of the model may find it gone. */
const leaving = new Set();
export const isLeaving = () => leaving.size > 0;

/* What was asked under the name of a model before, and is answered soon. */
const underWay = new Set();
export function whileThere(request) {
  underWay.add(request);
  return request.always(() => underWay.delete(request));
}

/* How long they wait for that, milliseconds: a service that answers nothing is not waited for. */
const PATIENCE_MS = 3000;

async function allAnswered() {
  const end = Date.now() + PATIENCE_MS;
  // An answer may call for another request.
  while (underWay.size > 0 && Date.now() < end) {
    const late = new Promise((resolve) => setTimeout(resolve, end - Date.now()));
    await Promise.race([Promise.allSettled(underWay), late]);
  }
}

/* Shows that it is under way; asked for once more meanwhile, it is done once. */
async function leave(service, what, data, then, refresh) {
  const name = JSON.stringify([service, data.model]);
  if (leaving.has(name)) {
    return;
  }
  const show = () => {
    const body = document.querySelector('.tabular-body');
    body.classList.toggle('tabular-busy', isLeaving());
    body.setAttribute('aria-busy', isLeaving());
  };
  const over = () => {
    leaving.delete(name);
    show();
  };
  leaving.add(name);
  show();
  await allAnswered();
  send(service, what, data, (answer) => {
    over();
    then(answer);
  }).fail(() => {
    over();
    refresh();
  });
}

/* Saves a model as a file. It is fetched, since a link would not say who asks. */
function exportModel(service, name) {
  const query = $.param({ model: name });
  ajax(
    route(service, `export?${query}`),
    { xhrFields: { responseType: 'blob' } },
    (file, _status, answer) => {
      const [, said] = /filename="([^"]+)"/.exec(answer.getResponseHeader('content-disposition')) || [];
      const link = el('a', { href: URL.createObjectURL(file), download: said || 'model.zip' });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
  );
}

/* Asks for a file, and the service that takes it where there are several. */
export function importModel(services, open) {
  const file = el('input', {
    type: 'file',
    accept: '.zip',
    'aria-label': text('action.file'),
  });
  const name = el('input', {
    type: 'text',
    placeholder: text('action.sameName'),
    'aria-label': text('action.newName'),
  });
  const service = el(
    'select',
    { 'aria-label': text('fact.service') },
    services.map((one) => el('option', { value: one.id }, serviceName(one))),
  );
  ask(
    text('action.askImport'),
    text('action.import'),
    () => {
      const [chosen] = file.files;
      if (chosen === undefined) {
        refuse(text('action.noFile'));
        return false;
      }
      const query = $.param({ name: name.value.trim() });
      ajax(
        route(service.value, `import?${query}`),
        { method: 'POST', contentType: 'application/octet-stream', processData: false, data: chosen },
        (model) => open(service.value, model.name),
      );
      return true;
    },
    el('div', {}, file, name, services.length > 1 ? service : ''),
  );
}

/* The fit nodes of the editor that fit a model, by what their dialogs say. */
const fitNodes = (name) =>
  RED.nodes
    .filterNodes({ type: 'tabular-fit' })
    .filter((node) => (node.model || node.name || node.id) === name);

/* The inject node that a table comes from, where there is one alone. */
function findSource(nodes) {
  const injects = nodes
    .flatMap((node) => RED.nodes.getAllUpstreamNodes(node))
    .filter(({ type, d }) => type === 'inject' && !d);
  return new Set(injects).size === 1 ? injects[0] : undefined;
}

const labelOf = (node) => RED.utils.getNodeLabel(node, node.id);

/* Deploys, and then does something: not where the deploy is cancelled or fails, nor with a later one. */
function deployAndThen(then) {
  const isDeploy = ({ type, url }) => type === 'POST' && /(?:^|\/)flows$/.test(url);
  function answered(_event, { status }, request) {
    if (isDeploy(request)) {
      $(document).off('ajaxComplete', answered);
      if (status >= 200 && status < 300) {
        then();
      }
    }
  }
  const isSending = () => $('.red-ui-deploy-button-spinner').is(':visible');
  const listen = () => isSending() && $(document).on('ajaxComplete', answered);
  RED.actions.invoke('core:deploy-flows');
  if (!listen()) {
    // Node-RED asks before it deploys nodes that are not fully set. An earlier question may still be on its way out,
    // above the new one or below it: whichever is answered.
    $('[id="red-ui-deploy-dialog-confirm-deploy-deploy"]').one('click', listen);
  }
}

/*
 * Adds columns to Ignore of the nodes that fit a model, as the dialog would; undo takes them back. Where it is known what
 * sends the table, the fit without them is one click more.
 */
function ignoreIn(name, columns) {
  const nodes = fitNodes(name).filter((node) => !RED.workspaces.isLocked(node.z));
  const named = columns.join(', ');
  if (nodes.length === 0) {
    refuse(text('doubts.noNode', { name, columns: named }));
    return;
  }
  const events = nodes.map((node) => {
    const { changed, ignore } = node;
    const known = (ignore || '').split(',').map((one) => one.trim());
    const added = columns.filter((column) => !known.includes(column));
    node.ignore = [...known, ...added].filter(Boolean).join(', ');
    Object.assign(node, { changed: true, dirty: true });
    return { t: 'edit', node, changes: { ignore }, changed };
  });
  RED.history.push({ t: 'multi', events, dirty: RED.nodes.dirty() });
  RED.nodes.dirty(true);
  RED.view.redraw(true);
  const ignored = text('doubts.ignored', { node: labelOf(nodes[0]), columns: named });
  const source = findSource(nodes);
  if (source === undefined) {
    RED.notify($(el('p', {}, `${ignored} ${text('doubts.sendAgain')}`)), 'success');
    return;
  }
  const question = text('doubts.askFitAnew', { source: labelOf(source) });
  ask(`${ignored} ${question}`, text('doubts.fitAnew'), () =>
    deployAndThen(() => ajax(`inject/${source.id}`, { method: 'POST' })),
  );
}

/* What a person says of an alarm (`confirm`), or of the odd periods of a history (`odd`). */
export const answerMachine = ({ id }, data, what, then) =>
  ajax(
    `tabular-prediction/anomalies/${encodeURIComponent(id)}/${what}`,
    asJson(data),
    then,
    'failed.rightsToAnswer',
  );

/* The buttons of an opened model, and what `Take back` does. */
export function modelActions(service, { name, version }, { refresh, close, open }) {
  const button = (key, onclick) => smallButton(key, text(`action.${key}`), onclick);
  const rename = () => {
    const field = el('input', { type: 'text', value: name, 'aria-label': text('action.newName') });
    ask(
      text('action.askRename', { name }),
      text('action.rename'),
      () => {
        const wanted = field.value.trim();
        if (wanted === '') {
          return false;
        }
        if (wanted !== name) {
          leave(service, 'rename', { model: name, name: wanted }, () => open(wanted), refresh);
        }
        return true;
      },
      field,
    );
  };
  return {
    ignore: (columns) => ignoreIn(name, columns),
    change: {
      choose: (threshold) => send(service, 'threshold', { model: name, threshold }, refresh),
      price: (costs) => send(service, 'costs', { model: name, costs }, refresh),
    },
    takeBack: (to) =>
      ask(
        text('action.askTakeBack', { name, from: version, to }),
        text(to > version ? 'versions.takeNewer' : 'versions.take'),
        () => send(service, 'rollback', { model: name, version: to }, refresh),
      ),
    manage: el(
      'div',
      { class: 'tabular-part tabular-manage' },
      el(
        'div',
        { class: 'tabular-buttons' },
        button('rename', rename),
        button('export', () => exportModel(service, name)),
        button('delete', () =>
          ask(text('action.askDelete', { name }), text('action.delete'), () =>
            leave(service, 'delete', { model: name }, close, refresh),
          ),
        ),
      ),
    ),
  };
}
