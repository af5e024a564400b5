import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Limits check

**limits** with *Check a table against the limits* has two outputs. A table within the limits of the service leaves by the first. A table over them leaves by the second, with \`msg.limits_exceeded\`: which limit, the actual value and the maximum. The table itself is not sent; the node asks the service for its limits once and caches them for an hour.

*Small table* has 60 rows and 4 columns. *Wide table* has 2,500 columns, more than the embedded service accepts.`;

/** A table within the limits and one beyond them, each at its own output. */
export function limitsCheck() {
  const flow = new Flow('Limits check', INFO);
  const table = { config: EMBEDDED, table: 'payload', tableType: 'msg' };
  const button = (name, row, columns) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      props: [{ p: 'columns', v: String(columns), vt: 'num' }],
    });

  flow.comment('Press either button.', [0.1, 0]);
  const small = button('Small table', 1, 4);
  const wide = button('Wide table', 2, 2500);
  const made = flow.code('table', [1, 1.5], 'limits-table.js');
  const check = flow.node('tabular-limits', 'within limits?', [2, 1.5], {
    ...table,
    check: true,
    set: 'train',
  });
  const fit = flow.node('tabular-fit', 'sum?', [3, 1], {
    ...table,
    target: 'sum',
    task: 'regression',
    model: 'sum',
  });
  const card = flow.debug('model card', [4, 1], 'model');
  const beyond = flow.debug('beyond the limits', [4, 2], 'limits_exceeded');
  flow.errors([0, 3.5]);
  flow.wire([small, wide], made, check);
  flow.wireOutput(check, 0, fit);
  flow.wireOutput(check, 1, beyond);
  flow.wire(fit, card);
  return flow;
}
