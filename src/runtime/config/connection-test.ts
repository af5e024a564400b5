import { Readable } from 'node:stream';

import { EndpointClient, ServiceClient } from '../../client';
import type { ServiceKind } from '../../models/service-kind';
import { DEFAULT_DIALECT, type Dialect } from '../../wire/dialect';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { withoutSecrets } from '../status/report';

/** How long a dialog waits for the answer, in milliseconds. */
const TEST_MS = 15_000;

export interface TestTarget {
  baseUrl: string;
  token: string;
  dialect: Partial<Dialect>;
  tls?: ConstructorParameters<typeof ServiceClient>[0]['tls'];
  proxy?: ConstructorParameters<typeof ServiceClient>[0]['proxy'];
}

export interface TestResult {
  ok: boolean;
  /** What is wrong, as the key of the dialog's words for it. */
  problem?:
    | 'variable'
    | 'address'
    | 'token'
    | 'noToken'
    | 'otherAddress'
    | 'apiName'
    | 'apiNameTwice'
    | 'tls'
    | 'proxy'
    | 'service';
  code?: string;
  /** The error message, in English and free of secrets, if it says more than `problem`. */
  message?: string;
  /** Keys of `model_limits`. */
  versions?: string[];
  defaultVersion?: string;
}

/** How a service of each kind is asked whether it answers. */
export const TESTS: Readonly<Record<ServiceKind, (target: TestTarget) => Promise<TestResult>>> = {
  embedded: testConnection,
  hosted: testConnection,
  onPrem: testEndpoint,
};

/** Asks a service for its limits, once and without retries, and says what is wrong if that fails. */
async function testConnection(target: TestTarget): Promise<TestResult> {
  let client: ServiceClient | undefined;
  try {
    client = new ServiceClient({ ...target, timeoutMs: TEST_MS, retries: 0 });
    const limits = await client.getModelLimits();
    return {
      ok: true,
      versions: Object.keys(limits.model_limits ?? {}),
      ...(limits.default_model_version === undefined ? {} : { defaultVersion: limits.default_model_version }),
    };
  } catch (error) {
    const known = withoutSecrets(toServiceError(error), [target.token]);
    const apiName = target.dialect.apiName ?? DEFAULT_DIALECT.apiName;
    // The client adds the API's name, which the address must not have at its end already.
    const isTwice = known.code === 'not_found' && new URL(target.baseUrl).pathname.endsWith(`/${apiName}`);
    return {
      ok: false,
      problem: isTwice ? 'apiNameTwice' : nameProblem(known),
      code: known.code,
      message: known.message,
    };
  } finally {
    await client?.close();
  }
}

/** Asks an on-premises endpoint for one prediction from a few rows, once and without retries. */
async function testEndpoint(target: TestTarget): Promise<TestResult> {
  let client: EndpointClient | undefined;
  const rows = (...list: unknown[][]) => {
    const text = Buffer.from(list.map((row) => JSON.stringify(row)).join(','));
    return { bytes: text.length, open: () => Readable.from([text]) };
  };
  try {
    client = new EndpointClient({ ...target, timeoutMs: TEST_MS, retries: 0 });
    const values = Array.from({ length: 20 }, (_, at) => at);
    const train = { x: rows(...values.map((at) => [at, at % 3])), y: rows(...values.map((at) => [at % 2])) };
    await client.predictRows({
      task: 'classification',
      output_type: 'probas',
      train,
      test: rows([1, 1]),
      rows: 1,
    });
    return { ok: true };
  } catch (error) {
    const known = withoutSecrets(toServiceError(error), [target.token]);
    const problem = known.code === 'not_found' ? 'address' : nameProblem(known);
    return { ok: false, problem, code: known.code, message: known.message };
  } finally {
    await client?.close();
  }
}

function nameProblem(error: ServiceError): TestResult['problem'] {
  switch (error.code) {
    case 'auth.unauthorized':
    case 'auth.forbidden':
      return 'token';
    case 'not_found':
      return 'apiName';
    case 'config.invalid':
    case 'response.invalid':
      return 'address';
    case 'service.unavailable':
    case 'service.timeout':
      if (/certificate|self.signed|TLS|SSL/i.test(error.message)) {
        return 'tls';
      }
      return error.cause?.status === undefined ? 'address' : 'service';
    default:
      return 'service';
  }
}
