import { columns, dashboard, template } from './dashboard.mjs';
import { ANOMALY_DEFAULTS, Flow } from './flow.mjs';

const INFO = `# What is not usual here

An *anomaly* node knows what is usual for a machine, without labels and without a service. A simulated compressor sends its readings of the last three weeks as one table, then a reading a second, each of five minutes: working hours, three loads, weekends, weather. There is no function node after it.

Press Deploy, and open \`/dashboard/unusual\`. Break a sensor with one of the buttons, and see which sensor is named, what it should have been, and how rare that is. Answer with *Real* or *Usual now*: such answers make the node find more.

Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install). To use your own readings, wire them to *what is usual*: an object of columns and values for each reading, with or without a time.`;

/** A compressor, faults by button, and what is unusual on a dashboard. */
export function unusual() {
  const flow = new Flow('What is not usual here', INFO);
  flow.needs('@flowfuse/node-red-dashboard');
  const { group, chart } = dashboard(flow, 'What is not usual', '/unusual');

  flow.comment('1. The machine: three weeks at once, then a reading a second', [0.7, 0]);
  const [start, tick] = flow.clock();
  const compressor = flow.code('Compressor', [1.1, 1.5], 'unusual-compressor.js');

  flow.comment('2. What is usual, and what is not', [2.4, 0]);
  const known = flow.node('tabular-anomaly', 'what is usual', [2.3, 1.5], ANOMALY_DEFAULTS);
  const changes = flow.debug('alarms and changes', [3.6, 2.2], 'payload');

  flow.comment('3. The dashboard: open /dashboard/unusual', [4.3, 0]);
  const faults = template(
    flow,
    'break a sensor',
    [0, 3.1],
    group('Break a sensor', 1, 4),
    'unusual-faults.html',
  );
  const alarms = template(
    flow,
    'what is unusual',
    [3.6, 1],
    group('What is unusual', 2, 8),
    'unusual-alarms.html',
  );
  alarms.width = 8;
  const readings = flow.node('ui-chart', 'readings', [3.6, 3.2], {
    ...chart,
    ...columns(['load', 'oil_c', 'housing_c', 'room_c', 'motor_a'], 'time'),
    colors: [
      '#9467BD',
      '#e4572e',
      '#f0ad4e',
      '#4c9be8',
      '#4caf6e',
      '#A347E1',
      '#D62728',
      '#FF9896',
      '#C5B0D5',
    ],
    group: group('Readings', 3, 12),
    label: '',
    order: 1,
    yAxisLabel: '',
    ymin: '',
    ymax: '',
    width: 12,
    height: 6,
    removeOlderPoints: '400',
  });
  flow.errors([0, 4.6]);

  flow.wire([start, tick, faults], compressor);
  flow.wire(compressor, known);
  flow.wireOutput(known, 0, alarms, readings);
  flow.wireOutput(known, 1, alarms, changes);
  flow.wire(alarms, known);
  return flow;
}
