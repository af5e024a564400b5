/* global RED, $, document */
/* What can be done with a model: take back, rename, export, delete; with a word of warning where it cannot be undone. */
(function () {
  'use strict';
  const models = RED.tabularPrediction.models;
  const { el, text } = models;

  const route = (service, what) => `tabular-prediction/models/${encodeURIComponent(service)}/${what}`;

  /* Asks before something is done; `more` stands under the question. Escape and Cancel leave all as it is. */
  function ask(question, yes, done, more) {
    const before = document.activeElement;
    const close = () => {
      notice.close();
      before?.focus?.();
    };
    const content = el('div', {}, el('p', {}, question), more || '');
    const notice = RED.notify($(content), {
      type: 'warning',
      modal: true,
      fixed: true,
      buttons: [
        { text: text('action.cancel'), click: close },
        {
          text: yes,
          class: 'primary',
          click() {
            close();
            done();
          },
        },
      ],
    });
    content.parentNode.addEventListener('keydown', (event) => event.key === 'Escape' && close());
    $(notice)
      .find(more ? 'input' : 'button')
      .first()
      .trigger('focus');
  }

  function send(service, what, data, then) {
    $.ajax({
      url: route(service, what),
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(data),
    })
      .done(then)
      .fail(({ status, responseJSON }) => {
        const said = [401, 403].includes(status)
          ? text('failed.rightsToChange')
          : (responseJSON && responseJSON.message) || text('failed.away');
        RED.notify($(el('p', {}, said)), 'error');
      });
  }

  /* The buttons of an opened model, and what `Take back` does. */
  models.actions = (service, { name, version }, { refresh, close, open }) => {
    const button = (key, onclick) =>
      el(
        'button',
        { type: 'button', class: 'red-ui-button red-ui-button-small', onclick },
        text(`action.${key}`),
      );
    const rename = () => {
      const field = el('input', { type: 'text', value: name, 'aria-label': text('action.newName') });
      ask(
        text('action.askRename', { name }),
        text('action.rename'),
        () => {
          const wanted = field.value.trim();
          if (wanted !== '' && wanted !== name) {
            send(service, 'rename', { model: name, name: wanted }, () => open(wanted));
          }
        },
        field,
      );
    };
    return {
      takeBack: (to) =>
        ask(text('action.askTakeBack', { name, from: version, to }), text('versions.take'), () =>
          send(service, 'rollback', { model: name, version: to }, refresh),
        ),
      manage: el(
        'div',
        { class: 'tabular-part tabular-manage' },
        el(
          'div',
          { class: 'tabular-buttons' },
          button('rename', rename),
          button('delete', () =>
            ask(text('action.askDelete', { name }), text('action.delete'), () =>
              send(service, 'delete', { model: name }, close),
            ),
          ),
        ),
      ),
    };
  };
})();
