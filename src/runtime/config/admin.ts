import { existsSync } from 'node:fs';

import type { ModelCards } from '../../connection';
import { DEFAULT_SERVICE, SERVICE_KINDS, serviceKey, type ServiceKind } from '../../models/service-kind';
import { toServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/settings-reader';
import { modelCards } from '../lazy';
import type { Red } from '../node-red';
import { modelsPath, serviceFolder } from '../paths';
import {
  type ConfigDef,
  type ConfigNode,
  configNode,
  dialect,
  proxyOptions,
  serviceKind,
  type StartEmbedded,
  tlsOptions,
} from './config-state';
import type { TestResult } from './connection-test';

/** What an unchanged password field holds. */
const UNCHANGED = '__PWRD__';
/** Labels of a model that a dialog offers. */
const MOST_CLASSES = 50;

/** What a dialog shows of a service's live models. The service need not be deployed: cards are kept by its address. */
export async function dialogModels(
  red: Red,
  id: string,
  service: Record<string, unknown>,
): Promise<unknown[]> {
  const node = configNode(red, id);
  const known = node?.state.savedCards();
  if (known !== undefined) {
    return listShown(known, service.columnsOf);
  }
  if (node?.state.key() !== undefined || !existsSync(modelsPath(red))) {
    return [];
  }
  const cards = modelCards().open({ path: modelsPath(red), service: makeServiceKey(service) });
  try {
    return listShown(cards, service.columnsOf);
  } finally {
    await cards.close();
  }
}

/** The key of a service that is not deployed; without an address it is that of nodes that have none chosen. */
function makeServiceKey({ service, baseUrl, apiName }: Record<string, unknown>): string {
  if (typeof baseUrl !== 'string') {
    return DEFAULT_SERVICE.key;
  }
  const kind = (Object.keys(SERVICE_KINDS) as ServiceKind[]).find((one) => one === service) ?? 'hosted';
  const name = typeof apiName === 'string' && apiName !== '' ? apiName : undefined;
  return serviceKey(kind, SERVICE_KINDS[kind].address(baseUrl), name);
}

/**
 * @param columnsOf the model whose columns are told too
 * @throws ServiceError `storage.failed` where a newer version of this package wrote the cards
 */
function listShown(cards: ModelCards, columnsOf: unknown): unknown[] {
  cards.assertUsable();
  return cards
    .list()
    .filter((card) => card.dead !== true)
    .map(({ name, task, target, rows, scores, fitted_at, classes, thresholds, columns }) => ({
      name,
      task,
      target,
      rows,
      scores,
      fitted_at,
      // A list of thousands of labels is nothing to choose from.
      classes: classes?.slice(0, MOST_CLASSES),
      // The label that is mostly looked for: the rarer of two.
      sought: thresholds?.label,
      ...(name === columnsOf && { columns: columns.map((column) => column.name) }),
    }));
}

/** The model versions that a service offers; none where it is not asked, or does not answer. */
export async function modelVersions(
  red: Red,
  id: string,
): Promise<{ versions: string[]; defaultVersion?: string }> {
  const node = configNode(red, id);
  try {
    // Opening a dialog does not start the embedded service.
    if (node?.state.isUp !== true) {
      return { versions: [] };
    }
    const limits = await node.state.connection().limits();
    const known = limits.model_limits;
    return {
      versions: typeof known === 'object' && known !== null ? Object.keys(known) : [],
      ...(typeof limits.default_model_version === 'string'
        ? { defaultVersion: limits.default_model_version }
        : {}),
    };
  } catch {
    return { versions: [] };
  }
}

/** The current values of the dialog, deployed or not. */
interface TestBody extends ConfigDef {
  /** A token that was just typed; missing or `__PWRD__` stands for the stored one. */
  token: string;
}

/** Answers *Test connection*. */
export async function testConnection(
  red: Red,
  startEmbedded: StartEmbedded,
  id: string,
  body: Partial<TestBody>,
): Promise<TestResult> {
  const node = configNode(red, id);
  const { TESTS } = await import('./connection-test.js');
  const place = { red, node };
  const env = (value: unknown): string => fromEnvironment(place, value);
  let field: TestResult['problem'] = 'service';
  try {
    const kind = serviceKind(place, body);
    const service = SERVICE_KINDS[kind];
    if (service.isLocal) {
      return await testEmbedded(red, startEmbedded);
    }
    field = 'variable';
    const [address, given] = [env(body.baseUrl), env(body.token)];
    field = 'address';
    const baseUrl = service.address(address);
    const found = tokenFor(baseUrl, given, node);
    const token =
      !service.needsToken && 'problem' in found && found.problem === 'noToken' ? { token: '' } : found;
    if ('problem' in token) {
      return { ok: false, code: 'auth.unauthorized', ...token };
    }
    field = 'tls';
    const tls = tlsOptions(red, body.tls);
    field = 'proxy';
    const proxy = proxyOptions(red, body.proxy);
    field = 'service';
    const target = { baseUrl, ...token, dialect: dialect(place, body), tls, proxy };
    return await TESTS[kind](target);
  } catch (error) {
    const known = toServiceError(error);
    return { ok: false, problem: field, code: known.code, message: known.message };
  }
}

/** Starts the embedded service as a node would, or joins the running one. What the test started ends with it. */
async function testEmbedded(red: Red, startEmbedded: StartEmbedded): Promise<TestResult> {
  const { TESTS } = await import('./connection-test.js');
  const service = await startEmbedded({
    dataDir: serviceFolder(red),
    log: (level, line) => red.log[level](line),
  });
  try {
    return await TESTS.embedded({ baseUrl: service.url, token: service.token, dialect: {} });
  } finally {
    await service.close();
  }
}

/** A typed token is sent to the typed address; the stored token only to the deployed one. */
function tokenFor(
  baseUrl: string,
  typed: string,
  node: ConfigNode | undefined,
): { token: string } | { problem: 'noToken' | 'otherAddress' } {
  if (typed !== '' && typed !== UNCHANGED) {
    return { token: typed };
  }
  const stored = node?.state.token() ?? '';
  if (stored === '' || node === undefined) {
    return { problem: 'noToken' };
  }
  if (node.state.origin !== new URL(baseUrl).origin) {
    return { problem: 'otherAddress' };
  }
  return { token: stored };
}
