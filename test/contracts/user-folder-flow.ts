import type { FlowNode } from '../helpers/node-red';
import type { Json } from './contract-node-red';
import { TOKEN } from './played-service';
import * as tables from './user-folder-tables';

const node = (type: string, id: string, properties: Json = {}, wires?: string[][]): FlowNode => ({
  id,
  type: `tabular-${type}`,
  ...(type !== 'config' && type !== 'series' && { config: 'own service' }),
  ...properties,
  ...(wires && { wires }),
});

const hosted = (id: string, baseUrl: string, properties: Json = {}): FlowNode =>
  node('config', id, { service: 'hosted', baseUrl, credentials: { token: TOKEN }, ...properties });

/** The flow that the user folder is of. */
export const FLOW: FlowNode[] = [
  node('config', 'own service', { service: 'embedded' }),
  hosted('cloud', 'http://hosted.example.com'),
  hosted('on site', 'http://endpoint.example.com', { service: 'onPrem' }),
  node('fit', 'fit'),
  node('fit', 'fit holding back', { holdout: '20', threshold: 'costs', costs: '{"yes":{"no":5}}' }),
  node('fit', 'fit thinking', { thinkingEffort: 'medium', thinkingTimeout: '5', thinkingMetric: 'rmse' }),
  node('fit', 'fit written', {
    types: '{"price":"number-comma","day":"date-dmy"}',
    missingWords: '-, unknown',
    unreadable: 'missing',
  }),
  node('fit', 'fit hosted', { config: 'cloud', model: 'hosted model', target: 'kind' }),
  node('fit', 'fit endpoint', { config: 'on site', model: 'endpoint model', target: 'y' }),
  node('predict', 'predict'),
  node('predict', 'predict hosted', { config: 'cloud', model: 'hosted model' }),
  node('predict', 'predict endpoint', { config: 'on site', model: 'endpoint model' }),
  node(
    'series',
    'series',
    {
      key: 'pump',
      time: 'time',
      outcome: 'column',
      column: 'temperature',
      ahead: '10m, 30m',
      knownAhead: 'shift',
      windows: '30m',
      train: '150 rows',
    },
    [['predict pumps'], ['watch'], ['fit pumps']],
  ),
  node(
    'series',
    'series of events',
    {
      key: 'pump',
      outcome: 'event',
      column: 'alarm',
      operator: '=',
      value: 'true',
      ahead: '15m',
      windows: '30m',
      train: '150 rows',
      keepAs: 'pump events',
    },
    [['predict alarms'], ['watch alarms'], ['fit alarms']],
  ),
  node('series', 'series told', { key: 'pump', outcome: 'message', windows: '15m', train: 'never' }),
  node('fit', 'fit pumps', { model: 'pumps' }),
  node('fit', 'fit alarms', { model: 'alarms' }),
  node(
    'predict',
    'predict pumps',
    { model: 'pumps', outputType: 'quantiles', quantiles: '0.1, 0.5, 0.9', noModel: 'pass' },
    [['watch']],
  ),
  node('predict', 'predict alarms', { model: 'alarms', noModel: 'pass' }, [['watch alarms']]),
  node('watch', 'watch', { model: 'pumps', perKey: true, alarmOn: 'upper', raise: '66', alarmFor: '2' }),
  node('watch', 'watch alarms', { model: 'alarms', alarmOn: 'probability', alarmLabel: 'yes', raise: '0.5' }),
];

const GROUPED = { group: 'machine', ignore: 'machine', options: { n_estimators: 2 } };

/** Messages for a node. Each step ends before the next begins. */
export interface Step {
  to: string;
  messages: Json[];
}

/** A request to an admin route. `file`: the body is the model file that the release has made. */
export interface Call {
  call: string;
  body?: Json;
  file?: boolean;
}

const step = (to: string, ...messages: Json[]): Step => ({ to, messages });
const fit = (name: string, target: string, payload: unknown, more: Json = {}, to = 'fit'): Step =>
  step(to, { model_name: name, target, payload, ...more });
const readings = (to: string, from: number, until: number): Step =>
  step(to, ...tables.pumpReadings(from, until).map((payload) => ({ payload })));
/** Each when what came of the one before is over: what a watch node tells depends on which predictions are back by then. */
const eachReading = (to: string, from: number, until: number): Step[] =>
  tables.pumpReadings(from, until).map((payload) => step(to, { payload }));

/** What was done with the release that made the folder. */
export const MADE: Step[] = [
  fit('two classes', 'fault', tables.faults(100), {}, 'fit holding back'),
  fit('two classes', 'fault', tables.faults(120), {}, 'fit holding back'),
  fit('two classes', 'fault', tables.faults(140), {}, 'fit holding back'),
  step('fit', { model_name: 'two classes', rollback: 2 }),
  fit('three classes', 'kind', tables.kinds),
  fit('number', 'price', tables.prices),
  fit('smooth', 'y', tables.smooth),
  fit('line', 'wear', tables.line),
  fit('thinking', 'y', tables.smooth, {}, 'fit thinking'),
  fit('text', 'good', tables.reviews),
  fit('dates', 'power', tables.byHour, { order: 'time', embargo: 2, timezone: 'America/New_York' }),
  fit('groups', 'wear', tables.machines, GROUPED),
  fit('big labels', 'article', tables.bigLabels),
  fit('written', 'kept', tables.written, {}, 'fit written'),
  fit('better', 'label', tables.growing(100), { replace: 'better' }),
  fit('better', 'label', tables.growing(240), { replace: 'better' }),
  fit('hosted model', 'kind', tables.kinds.slice(0, 30), {}, 'fit hosted'),
  fit('hosted model', 'kind', tables.kinds.slice(0, 45), {}, 'fit hosted'),
  fit('endpoint model', 'y', tables.smooth.slice(0, 20), {}, 'fit endpoint'),
  step('series', { payload: tables.pumpReadings(0, 70) }),
  step('series of events', { payload: tables.pumpReadings(0, 70) }),
  readings('series', 70, 90),
  readings('series of events', 70, 90),
  readings('series told', 0, 10),
  step('series told', { outcome: 'fine', key: 'p1', time: tables.pumpReadings(0, 10)[4]!.time }),
];

/** The model that the release has exported as a file. */
export const EXPORTED = 'number';

const get = (path: string): Call => ({ call: `GET /tabular-prediction/models${path}` });
const predict = (model: string, payload: unknown, more: Json = {}): Step =>
  step('predict', { model, payload, ...more });
const why = { explain: true, unlike: true };
const fault = { ...tables.faults(3, 77)[0], note: 'bearing runs hot', temperature: 66.5, load: 0.4 };
const someFaults = [fault, { ...fault, temperature: null, site: 'nowhere' }, ...tables.faults(4, 78)];
const someKinds = [...tables.kinds.slice(0, 4), { length: null, width: 3.1, wild: true }];
/** Rows for the model of prices. */
export const somePrices = [...tables.prices.slice(0, 3), { rooms: 9, area: 400, place: 'moon' }];
const someSmooth = [
  { x: 1.5, z: 0.5 },
  { x: 7.5, z: null },
];

/** What is asked of the folder, whichever release has it. */
export const ASKED: (Step | Call)[] = [
  get(''),
  get('/own service'),
  get('/cloud'),
  get('/on site'),
  get('/own service/card?model=two classes'),
  get('/own service/card?model=two classes@3'),
  get('/own service/card?model=pumps'),
  get('/cloud/card?model=hosted model'),
  ...['two classes', 'number', 'pumps'].map((name) => ({
    call: `GET /tabular-prediction/sidebar/own service/model?name=${name}`,
  })),
  { call: 'GET /tabular-prediction/sidebar/cloud/model?name=hosted model' },
  ...['pumps', 'alarms', 'number'].map((name) => ({ call: `GET /tabular-prediction/watch/${name}` })),
  { call: 'GET /tabular-prediction/own service/models' },
  { call: 'GET /tabular-prediction/series/columns' },
  predict('two classes', someFaults, why),
  predict('two classes', someFaults, { output_type: 'preds' }),
  predict('two classes', someFaults, { output_type: 'preds', threshold: 0.9 }),
  predict('two classes@1', someFaults),
  predict('two classes@3', someFaults),
  predict('two classes', tables.faults(60, 79), { evaluate: true }),
  predict('three classes', someKinds, why),
  predict('three classes', someKinds, { output_type: 'preds' }),
  predict('number', somePrices, why),
  predict('number', somePrices, { output_type: 'main', quantiles: [0.05, 0.5, 0.95] }),
  predict('number', somePrices.slice(0, 2), { output_type: 'full' }),
  predict('smooth', someSmooth, why),
  predict('smooth', someSmooth, { output_type: 'quantiles', quantiles: [0.1, 0.5, 0.9] }),
  predict('smooth', someSmooth.slice(0, 1), { output_type: 'full' }),
  predict('line', [{ hours: 20.5 }, { hours: 60 }], { output_type: 'main' }),
  predict('thinking', someSmooth, { output_type: 'median' }),
  predict('thinking', someSmooth, { output_type: 'mode' }),
  predict('text', [{ text: 'great machine, quiet and blue' }, { text: 'late' }, { text: null }], why),
  predict('dates', tables.byHour.slice(30, 34), { ...why, output_type: 'main' }),
  predict('groups', tables.machines.slice(0, 3), { output_type: 'main' }),
  predict('big labels', tables.bigLabels.slice(0, 2), { output_type: 'preds' }),
  predict('big labels', tables.bigLabels.slice(0, 2)),
  predict('written', tables.written.split('\n').slice(0, 5).join('\n'), why),
  predict('better', tables.growing(4)),
  step('predict hosted', { payload: someKinds.slice(0, 2) }),
  step('predict hosted', { payload: someKinds.slice(0, 2), output_type: 'preds' }),
  step('predict endpoint', { payload: someSmooth }),
  { call: 'POST /tabular-prediction/models/own service/import?name=imported', file: true },
  predict('imported', somePrices, { ...why, output_type: 'main' }),
  // The same table with the same options is the model that there is; the embedded service fits it again where its
  // learner has become another.
  fit('hosted model', 'kind', tables.kinds.slice(0, 45), {}, 'fit hosted'),
  fit('endpoint model', 'y', tables.smooth.slice(0, 20), {}, 'fit endpoint'),
  ...eachReading('series', 90, 94),
  ...eachReading('series of events', 90, 94),
  readings('series told', 10, 11),
  step('series told', { outcome: 'worn', key: 'p2', time: tables.pumpReadings(0, 10)[7]!.time }),
  step('fit', { model_name: 'two classes', rollback: true }),
  predict('two classes', someFaults),
  step('fit', { model_name: 'two classes', rollback: 3 }),
  predict('two classes', someFaults),
  step('fit', { model_name: 'two classes', rollback: 9 }),
  step('fit hosted', { rollback: true }),
  step('predict hosted', { payload: someKinds.slice(0, 1) }),
  get('/own service'),
  { call: 'GET /tabular-prediction/watch/pumps' },
];
