import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request to the endpoint, as its body and headers say. */
export interface Asked {
  path: string;
  authorization: string | undefined;
  body: Body;
  bytes: number;
}

interface Body {
  task_config: {
    task: 'classification' | 'regression';
    predict_params: { output_type: string; quantiles?: number[] };
  } & Record<string, unknown>;
  X_train?: unknown[][];
  y_train?: [string | number | boolean][];
  X_test: unknown[][];
  context?: { model_id: string };
}

/** `raw` is a body as it goes over the wire. */
interface Answer {
  status: number;
  body?: unknown;
  raw?: string;
  headers?: Record<string, string>;
}

export interface Endpoint {
  url: string;
  asked: Asked[];
  /** Models that it knows; forgetting them is a restart of the endpoint. */
  models: Set<string>;
  /** Answers before the endpoint itself does; undefined lets it. */
  fault: (asked: Asked) => Answer | undefined;
  close(): Promise<void>;
}

/**
 * An on-premises endpoint as containers with a tabular model are: one stateless route, whose answer has the prediction
 * alone, and a `model_id` where the configuration says fit_with_cache. It refuses a body of any other shape. A row
 * gets the label, or the number, of the first train row with the same first cell.
 */
export async function startEndpoint({ token = '', path = '/predict' } = {}): Promise<Endpoint> {
  const kept = new Map<string, Body>();
  const endpoint = {
    asked: [] as Asked[],
    models: new Set<string>(),
    fault: () => undefined,
  } as unknown as Endpoint;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await text(request);
    const asked: Asked = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(sent) as Body,
      bytes: Buffer.byteLength(sent),
    };
    endpoint.asked.push(asked);
    const answer = endpoint.fault(asked) ?? answerOf(asked);
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.raw ?? JSON.stringify(answer.body));
  };
  const answerOf = ({ path: at, authorization, body }: Asked): Answer => {
    if (at !== path) {
      return { status: 404, body: { detail: 'Not Found' } };
    }
    if (token !== '' && authorization !== `Bearer ${token}`) {
      return { status: 401, body: { detail: 'Not authenticated' } };
    }
    if (token === '' && authorization !== undefined) {
      return { status: 400, body: { detail: 'a header that nobody asked for' } };
    }
    const id = body.context?.model_id;
    if (id !== undefined && !endpoint.models.has(id)) {
      return { status: 404, body: { detail: `Model ${id} not found` } };
    }
    const fault = faultOf(body);
    if (fault !== undefined) {
      return { status: 422, body: { detail: [{ loc: ['body'], msg: fault }] } };
    }
    const train = id === undefined ? body : kept.get(id)!;
    const config = body.task_config.svc_config as { fit_mode?: string } | undefined;
    if (config?.fit_mode !== 'fit_with_cache') {
      return { status: 200, body: { prediction: predicted(train, body) } };
    }
    const modelId = id ?? `model-${kept.size}`;
    kept.set(modelId, train);
    endpoint.models.add(modelId);
    return { status: 200, body: { prediction: predicted(train, body), model_id: modelId } };
  };
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  endpoint.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return endpoint;
}

/** What is wrong with a body, where it is not as the route has it. */
function faultOf({ task_config: task, X_train: x, y_train: y, X_test: test, context, ...rest }: Body) {
  const isTable = (rows: unknown): boolean =>
    Array.isArray(rows) &&
    rows.length > 0 &&
    rows.every((row) => Array.isArray(row) && row.length === (rows[0] as []).length);
  if (Object.keys(rest).length > 0) {
    return `unknown: ${Object.keys(rest).join(', ')}`;
  }
  if (!isTable(test) || task.predict_params.output_type === undefined) {
    return 'X_test must be rows, with an output type';
  }
  if (context !== undefined) {
    return x === undefined && y === undefined ? undefined : 'rows beside a model id';
  }
  if (!isTable(x) || !isTable(y) || y!.length !== x!.length || y![0]!.length !== 1) {
    return 'X_train must be rows, and y_train rows of one cell';
  }
  return x![0]!.length === test[0]!.length ? undefined : 'X_train and X_test have other columns';
}

function predicted({ X_train: x, y_train: y }: Body, { X_test: test, task_config: task }: Body): unknown {
  const { output_type: output, quantiles = [] } = task.predict_params;
  const values = y!.map(([value]) => value);
  const found = test.map(([first]) => values[x!.findIndex((row) => row[0] === first)] ?? values[0]!);
  const classes = [...new Set(values)].sort();
  switch (output) {
    case 'preds':
    case 'mean':
      return found;
    case 'probas':
      return found.map((label) => classes.map((one) => (one === label ? 1 : 0)));
    default:
      return quantiles.map(() => found);
  }
}
