import path from 'node:path';

import { TestFlow } from './flow';
import { startNodeRed, waitFor } from './node-red';
import { startStrictService } from './strict-service';

/**
 * A real Node-RED trains on a service that sends white space for `fitMs` milliseconds before its answer. Answers
 * how long that took, in milliseconds. With `cut` the flow is deployed again in the middle instead: the answer is
 * then how long after the deploy the request had ended.
 */
export async function longFit(fitMs: number, keepaliveMs: number, cut = false): Promise<number> {
  const service = await startStrictService({ fitMs, keepaliveMs });
  const flow = new TestFlow('long fit');
  flow.hosted(service);
  flow.wire(
    flow.inject('go'),
    flow.code('rows', 'return { payload: Array.from({ length: 40 }, (_, i) => ({ id: i, y: i / 3 })) };'),
    flow.tabular('fit', 'fit', { target: 'y', model: 'm' }),
    flow.debug('card', 'model'),
  );
  const red = await startNodeRed({
    flows: [],
    link: { 'node-red-contrib-tabular-prediction': path.resolve(__dirname, '..', '..') },
  });
  try {
    await red.deploy(flow.nodes);
    await red.inject('go');
    await waitFor('the fit', () => (service.seen('fit').length > 0 ? true : undefined));
    const begun = performance.now();
    if (!cut) {
      await red.shown('card', 1, fitMs + 30_000);
      if (service.breaches.length > 0) {
        throw new Error(service.breaches.join('\n'));
      }
      return performance.now() - begun;
    }
    await new Promise((resolve) => setTimeout(resolve, fitMs / 4));
    const deployed = performance.now();
    await red.deploy(flow.nodes);
    await waitFor('the end of the connection', () => (service.connections === 0 ? true : undefined));
    if (red.debug.some(({ id }) => id === 'card')) {
      throw new Error('a fit that was cut has a result');
    }
    return performance.now() - deployed;
  } finally {
    await red.stop();
    await service.close();
  }
}
