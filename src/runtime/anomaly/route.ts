import { type EditorRequest, EditorRoutes } from '../config/http';
import type { Red } from '../node-red';
import { anomalyNodes } from './load';

const ROOT = '/tabular-prediction/anomalies';

/**
 * What the sidebar asks of anomaly nodes: `:node` is the id of one. A machine is named by its key in the query or the
 * body, where it may hold any character; without one, all readings are of one machine.
 */
export function anomalyRoutes(red: Red): void {
  const routes = new EditorRoutes(red);
  const nodeOf = ({ params }: EditorRequest) => anomalyNodes().shownNode(params.node ?? '');

  routes.tell(ROOT, () => anomalyNodes().listedNodes());
  routes.tell(`${ROOT}/:node/machine`, (request) => {
    const { key, column } = request.query ?? {};
    return nodeOf(request).machine(keyOf(key), textsOf(column));
  });
  routes.act(`${ROOT}/:node/confirm`, async (request, { key, id, answer }) => {
    await nodeOf(request).confirm(answer, id, keyOf(key));
    return { answer };
  });
  routes.act(`${ROOT}/:node/odd`, async (request, { key, answer }) => {
    await nodeOf(request).odd(answer, keyOf(key));
    return { answer };
  });
}

function keyOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What is in a query once, several times, or not at all. */
function textsOf(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}
