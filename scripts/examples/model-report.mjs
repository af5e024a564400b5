import { dashboard, template } from './dashboard.mjs';
import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Model report

Parts from a press are inspected: which of them are faulty? A model is fitted on past parts, and its report is drawn on a dashboard: the confusion matrix, whether the probabilities are right, and what the model rests on.

Then last week's parts, with the results of their inspection, go to a *predict* node with *Score against the target* on. The same pictures for those rows are shown next to the first ones: what the model promised, and how it did. The tool of the press has worn in the meantime, so the loss rises from day to day.

Press Deploy and open \`/dashboard/report\`. Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install). Nothing leaves this computer, because the embedded service is used.`;

/** A model's own report and its scores on newer rows, drawn beside each other. */
export function modelReport() {
  const flow = new Flow('Model report', INFO);
  flow.needs('@flowfuse/node-red-dashboard');
  const { group } = dashboard(flow, 'Model report', '/report');
  const common = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: 'part quality' };
  const start = (name, row, delay) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      once: true,
      onceDelay: delay,
      topic: name,
      props: [{ p: 'topic', vt: 'str' }],
    });
  const report = (name, title, property, order, row) => {
    const take = flow.node('change', `msg.${property}`, [3.6, row], {
      rules: [{ t: 'set', p: 'payload', pt: 'msg', to: property, tot: 'msg' }],
    });
    const page = template(flow, name, [4.9, row], group(title, order, 6), 'model-report.html');
    flow.wire(take, page);
    return take;
  };

  flow.comment('1. Parts that were inspected', [0.4, 0]);
  const past = start('past', 1, 0.1);
  const week = start('last week', 3, 1);
  const parts = flow.code('Press', [1.1, 2], 'inspections.js');
  const which = flow.node('switch', 'which?', [2, 2], {
    property: 'topic',
    propertyType: 'msg',
    rules: [
      { t: 'eq', v: 'past', vt: 'str' },
      { t: 'eq', v: 'last week', vt: 'str' },
    ],
    checkall: 'false',
    repair: false,
    outputs: 2,
  });

  flow.comment('2. Learn from the past; score last week', [2.6, 0]);
  const fit = flow.node('tabular-fit', 'learn', [2.8, 1], {
    ...common,
    target: 'quality',
    targetType: 'str',
    task: 'auto',
    ignore: 'time',
    order: 'time',
    modelReport: true,
  });
  const score = flow.node('tabular-predict', 'score', [2.8, 3], {
    ...common,
    outputType: 'probas',
    noModel: 'wait',
    evaluate: 'on',
  });

  flow.comment('3. The reports: open /dashboard/report', [4.4, 0]);
  const fitted = report('as it was fitted', 'As it was fitted: rows it had not seen', 'model_report', 1, 1);
  const scored = report('last week scored', 'Last week: how good it was', 'evaluation', 2, 3);

  flow.comment('4. Errors, by code', [0.3, 4.5]);
  flow.errors([0, 5.5], { beside: 1.1, status: true });

  flow.wire([past, week], parts, which);
  flow.wireOutput(which, 0, fit);
  flow.wireOutput(which, 1, score);
  flow.wire(fit, fitted);
  flow.wire(score, scored);
  return flow;
}
