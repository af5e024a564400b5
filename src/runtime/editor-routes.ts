import { EMBEDDED } from '../models/service-kind';
import { dialogModels, modelVersions, testConnection } from './config/admin';
import type { StartEmbedded } from './config/config-state';
import { type Permission, registerRoutes } from './config/http';
import { columnsSeen, lastReading, typesSeen } from './input/columns-seen';
import { advice, anomalyNodes, models, watchNodes } from './load';
import type { Red } from './node-red';
import { addModel, changeModel, sendModel, serviceOf, showCard } from './sidebar/answers';

const READ = 'tabular-prediction.read';
const WRITE = 'tabular-prediction.write';

/** A variable could be sent to any address: those are for users who may read all of them in a flow anyway. */
const writeAndFlows = (_id: string, body: unknown): Permission[] =>
  JSON.stringify(body ?? {}).includes('${') ? [WRITE, 'flows.write'] : [WRITE];

/**
 * Every route of the editor: method, path below `/tabular-prediction`, the permission that it needs, and what answers.
 * Registered once, with the config node's type.
 */
export function editorRoutes(red: Red, startEmbedded: StartEmbedded): void {
  /** A prediction changes nothing, but other services than the embedded one may charge for it. */
  const readOrWrite = (id: string): Permission[] => {
    const service = models()
      .services(red)
      .find((one) => one.id === id);
    return [service?.kind === EMBEDDED ? READ : WRITE];
  };

  registerRoutes(red, [
    // What the watch nodes know of a model, null where none watches it. Node-RED takes the first route that fits, so this
    // and the anomaly nodes come before the dialogs, whose paths begin with the id of a node.
    ['GET', '/watch/:model', READ, (model) => watchNodes().shownWatch(model) ?? null],

    // Anomaly nodes, as the sidebar shows them.
    ['GET', '/anomalies', READ, () => anomalyNodes().listedNodes()],
    ['GET', '/anomalies/:node/machine', READ, (id, query) => anomalyNodes().shownNode(id).machine(query)],
    ['POST', '/anomalies/:node/confirm', WRITE, (id, body) => anomalyNodes().shownNode(id).confirm(body)],
    ['POST', '/anomalies/:node/odd', WRITE, (id, body) => anomalyNodes().shownNode(id).odd(body)],

    // What dialogs offer: `:id` is that of a config node, of columns, types and the last reading that of any node.
    ['GET', '/:id/models', READ, (id, query) => dialogModels(red, id, query)],
    ['GET', '/:id/versions', READ, (id) => modelVersions(red, id)],
    ['GET', '/:id/columns', READ, (id) => columnsSeen(id)],
    ['GET', '/:id/types', READ, (id) => typesSeen(id)],
    ['GET', '/:id/last-reading', READ, (id) => lastReading(id) ?? {}],
    ['POST', '/:id/test', writeAndFlows, (id, body) => testConnection(red, startEmbedded, id, body)],

    // Models are listed and managed: `:service` is the id of a config node, or `none`. A model is named in the query or the
    // body, where a name may hold any character.
    ['GET', '/models', READ, () => models().listServices(red)],
    ['GET', '/models/:service', READ, (id) => models().listModels(red, serviceOf(red, id))],
    ['GET', '/models/:service/card', READ, (id, query) => showCard(red, id, query)],
    ['GET', '/models/:service/export', READ, (id, query) => sendModel(red, id, query), 'file'],
    ['POST', '/models/:service/rollback', WRITE, (id, body) => changeModel(red, id, 'rollback', body)],
    ['POST', '/models/:service/rename', WRITE, (id, body) => changeModel(red, id, 'rename', body)],
    ['POST', '/models/:service/threshold', WRITE, (id, body) => changeModel(red, id, 'threshold', body)],
    ['POST', '/models/:service/costs', WRITE, (id, body) => changeModel(red, id, 'costs', body)],
    ['POST', '/models/:service/delete', WRITE, (id, body) => changeModel(red, id, 'delete', body)],
    ['POST', '/models/:service/import', WRITE, (id, query, file) => addModel(red, id, query, file), 'file'],

    // One model in the sidebar. Values of a table leave behind a permission only.
    ['GET', '/sidebar/:id/model', READ, (id, { name }) => models().showModel(red, id, String(name))],
    ['POST', '/sidebar/:id/try', readOrWrite, (id, body) => models().tryRow(red, id, body)],
    ['POST', '/sidebar/:id/advise', readOrWrite, (id, body) => advice().findSetting(red, id, body)],
  ]);
}
