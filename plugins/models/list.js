import { RARE_FROM } from '../../src/runtime/status/in-words';
import { bdi, el, icon, listEntry, number, ofOne, percent, text } from './dom';
import { machineList } from './machines';

/* The list of the sidebar Models: what there is, and at a glance which model or machine is in order. */

/* Outcomes of a block: of fewer nothing is told of a decay. */
const ENOUGH_OUTCOMES = 100;
/* A loss this near that without a model tells nothing. */
const LITTLE = 0.99;

/*
 * The score that models of a task are told apart by: where one label is rare, any model's accuracy is near to its share,
 * and where a threshold is in use, it is not that of what is answered.
 */
function mainScore({ accuracy, r2, roc_auc: rocAuc, baseline = {} } = {}, threshold) {
  if (Number.isFinite(rocAuc) && (threshold || baseline.accuracy >= RARE_FROM)) {
    return { name: text('score.roc_auc'), value: ofOne(rocAuc) };
  }
  if (Number.isFinite(accuracy)) {
    return { name: text('score.accuracy'), value: percent(accuracy) };
  }
  return Number.isFinite(r2) ? { name: text('score.r2'), value: ofOne(r2) } : undefined;
}

/* No better than always saying the same. */
function isTrivial({ log_loss: loss, rmse, baseline = {} } = {}) {
  return loss >= baseline.log_loss * LITTLE || rmse >= baseline.rmse * LITTLE;
}

/* No better than saying that all stays as it is; of a rare label any accuracy is high. */
function isStill({ accuracy, rmse, baseline = {}, baseline_now: now = {} } = {}) {
  const isRare = baseline.accuracy >= RARE_FROM;
  return (!isRare && accuracy <= now.accuracy) || rmse >= now.rmse * LITTLE;
}

/* How a model stands: `good`, `odd`, `bad` or `unknown`, and why in words. A shape goes with each colour. */
export function standing({ dead, doubts, scores, live }) {
  const said = (is, why) => ({ is, why: text(`standing.${why}`) });
  if (dead) {
    return said('bad', 'dead');
  }
  if (live && live.decayed) {
    return said('odd', 'worse');
  }
  if (isTrivial(scores)) {
    return said('odd', 'trivial');
  }
  if (isStill(scores)) {
    return said('odd', 'still');
  }
  if (doubts && doubts.length > 0) {
    return said('odd', 'doubted');
  }
  if (live && live.unsure) {
    return said('odd', 'unsure');
  }
  if (!mainScore(scores)) {
    return said('unknown', 'unknown');
  }
  const isKnown = live && Number.isFinite(live.promised) && live.rows >= ENOUGH_OUTCOMES;
  return said('good', isKnown ? 'goodLive' : 'good');
}

function liveText({ measure, loss, promised }) {
  const name = text(`score.${measure}`);
  return Number.isFinite(promised)
    ? text('list.live', { name, promised: number(promised), loss: number(loss) })
    : text('list.liveAlone', { name, loss: number(loss) });
}

function line(service, model, open) {
  const score = mainScore(model.scores, model.threshold);
  const live = model.live && Number.isFinite(model.live.loss) ? liveText(model.live) : '';
  return listEntry(
    { of: [service.id, model.name], name: model.name, stands: standing(model) },
    () => open(service.id, model.name),
    el('span', { class: 'tabular-score' }, score ? [el('small', {}, score.name), ' ', score.value] : ''),
    el('span', { class: 'tabular-about' }, bdi(model.target || '–'), ' · ', text(`task.${model.task}`)),
    el('span', { class: 'tabular-live' }, live),
    model.alarms
      ? el('span', { class: 'tabular-alarm' }, text('list.alarms', { count: number(model.alarms) }))
      : '',
  );
}

export const serviceName = ({ name, kind }) => name || text(`service.${kind}`);

/* Up and down go from model to model. */
function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) {
    return;
  }
  const lines = [...event.currentTarget.querySelectorAll('.tabular-model')];
  const next = lines[lines.indexOf(document.activeElement) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}

const byName = new Intl.Collator(undefined, { numeric: true });

/* @param services, nodes as the runtime lists them; @param sought what the names must hold */
export function modelList(services, nodes, sought, open, openMachine) {
  const wanted = sought.trim().toLocaleLowerCase();
  const isWanted = ({ name, target }) => `${name} ${target}`.toLocaleLowerCase().includes(wanted);
  const groups = services
    .map((service) => ({
      service,
      shown: service.models.filter(isWanted).sort((a, b) => byName.compare(a.name, b.name)),
    }))
    .filter(({ shown }) => shown.length > 0);
  const machines = machineList(nodes, wanted, openMachine);
  if (groups.length === 0 && machines.length === 0) {
    const none = nodes.length === 0 && services.every((service) => service.models.length === 0);
    return el(
      'p',
      { class: 'tabular-none' },
      icon(none ? 'cube' : 'search'),
      el('span', {}, text(none ? 'list.none' : 'list.notFound')),
    );
  }
  const several = services.filter((service) => service.models.length > 0).length > 1;
  const away = (service) => (service.away ? el('p', { class: 'tabular-note' }, text('list.away')) : '');
  return el(
    'div',
    { class: 'tabular-list', onkeydown: walk },
    groups.map(({ service, shown }) => [
      several ? el('h3', { class: 'tabular-service' }, bdi(serviceName(service))) : '',
      away(service),
      el(
        'ul',
        { 'aria-label': serviceName(service) },
        shown.map((model) => line(service, model, open)),
      ),
    ]),
    machines,
  );
}
