/*
 * A stream through a real Node-RED against the strict stand-in, which has random faults on every route, with
 * redeploys and new fits on the way. Seeded, so that a run that failed can be made again.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { seededRandom } from '../doors/util';
import { TestFlow } from './flow';
import { type FlowNode, type RealNodeRed, startNodeRed } from './node-red';
import { startStream } from './stream';
import { type Fault, startStrictService, type StrictRoute, type StrictService } from './strict-service';

export interface SoakOptions {
  messages: number;
  seed: number;
  redeploys: number;
  /** Share of requests that go wrong. */
  faultRate?: number;
  /** How often the service goes silent, refuses the token, and deletes the model that is in use. Default 1. */
  outages?: number;
  log?: (text: string) => void;
}

interface StreamState {
  fed: number;
  open: number;
  left: number;
  resent: number;
  ended: number;
  sent: number;
  failed: number;
  doubled: number;
  both: number;
  codes: Record<string, number>;
  fits: { taken: number; ended: number; codes: Record<string, number> };
  mixed: unknown[];
  unordered: unknown[];
  ms: number;
  finished: boolean;
}

interface ProcessState {
  heapMb: number;
  externalMb: number;
  rssMb: number;
  files: number;
}

export interface SoakSummary {
  state: StreamState;
  seconds: number;
  redeploys: number;
  requests: number;
  faults: Record<string, number>;
  /** What befell the whole service, in order, and how many messages had been scored by then. */
  outages: { kind: OutageKind; sent: number }[];
  breaches: string[];
  /** Before the first message, when a fifth had passed, and at the end with every flow removed. */
  before: ProcessState;
  early: ProcessState;
  after: ProcessState;
  /** Highest heap seen after garbage collection. */
  peakHeapMb: number;
  connectionsAfter: number;
  tempFilesAfter: string[];
  log: string;
}

const FAULTS: [string, Fault][] = [
  ['reset before', { reset: 'before' }],
  ['reset during', { reset: 'during' }],
  ['reset after', { reset: 'after' }],
  ['cut in half', { cutAt: 0.5 }],
  ['408', { status: 408 }],
  ['429', { status: 429 }],
  ['429 with seconds', { status: 429, headers: { 'retry-after': '0.05' } }],
  ['429 with a date', { status: 429, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' } }],
  ['500', { status: 500 }],
  ['502 HTML', { status: 502, body: '<html>Bad gateway</html>' }],
  ['503', { status: 503 }],
  ['503 early', { status: 503, early: true }],
  ['504', { status: 504 }],
  ['500 not retryable', { status: 500, body: { code: 'broken', detail: 'no', retryable: false } }],
  ['400 retryable', { status: 400, body: { code: 'busy', detail: 'busy', retryable: true } }],
  ['403 refused URL', { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }],
  ['HTML at 200', { status: 200, body: '<html>Sign in</html>' }],
  ['empty at 200', { status: 200, body: '' }],
  ['streamed error', { status: 200, body: { _streamed_error: true, detail: 'lost', retryable: true } }],
  ['white space', { whitespaceMs: 80 }],
  ['slow', { delayMs: 120 }],
  ['slow reader', { slowReadMs: 20 }],
  ['silent', { silent: true }],
];

/** What may befall the service as a whole, whatever the route. */
type OutageKind = 'goes silent' | 'refuses the token' | 'deletes the model';

const OUTAGES: OutageKind[] = ['goes silent', 'refuses the token', 'deletes the model'];

/** Requests that an outage lasts for; by then every slot has met it. */
const OUTAGE_REQUESTS = 6;

/** The outage under way. */
class Outage {
  private fault: Fault | undefined;
  private left = 0;

  begin(kind: OutageKind, service: StrictService): void {
    if (kind === 'deletes the model') {
      service.deleteModels();
      return;
    }
    const expired = { code: 'auth.unauthorized', detail: 'The token has expired', retryable: false };
    this.fault = kind === 'goes silent' ? { silent: true } : { status: 401, body: expired };
    this.left = OUTAGE_REQUESTS;
  }

  /** What it does to a request. A signed URL needs no token. */
  meets(route: StrictRoute): Fault | undefined {
    if (this.left === 0 || (route === 'put' && this.fault?.status === 401)) {
      return undefined;
    }
    this.left -= 1;
    return this.fault;
  }
}

/** Whether a fault makes sense on a route: 2xx to a PUT is success, and 403 elsewhere is a lost token. */
function fits(name: string, fault: Fault, route: StrictRoute): boolean {
  if (route === 'put') {
    return fault.status !== 200;
  }
  return name !== '403 refused URL';
}

const ROUTES: StrictRoute[] = [
  'prepare_train_set_upload',
  'prepare_test_set_upload',
  'put',
  'fit',
  'predict',
  'get_model_limits',
];

function addFaults(
  service: StrictService,
  random: () => number,
  rate: number,
  counts: Record<string, number>,
  outage: Outage,
) {
  for (const route of ROUTES) {
    const possible = FAULTS.filter(([name, fault]) => fits(name, fault, route));
    service.fault(route, () => {
      const general = outage.meets(route);
      if (general !== undefined) {
        return general;
      }
      if (random() >= rate) {
        return undefined;
      }
      const [name, fault] = possible[Math.floor(random() * possible.length)]!;
      counts[name] = (counts[name] ?? 0) + 1;
      return fault;
    });
  }
}

/** Short, so that a silent server does not make the run a long one. */
const TIMEOUT_SECONDS = 5;

const TRAIN = `const shift = Date.now() % 1000;
return { payload: Array.from({ length: 40 }, (_, i) => ({ id: i, x: i % 7, y: i / 3 + shift })) };`;

/** `revision` changes the predict node, so that a deploy of changed nodes alone restarts it too. */
function soakFlow(service: StrictService, revision: number): FlowNode[] {
  const flow = new TestFlow('soak');
  flow.hosted(service, { timeout: TIMEOUT_SECONDS, retries: 6 });
  flow.wire(
    flow.inject('train'),
    flow.code('rows', TRAIN),
    flow.tabular('fit', 'fit', { target: 'y', task: 'regression', model: 'm' }),
    flow.debug('card', 'fitted_train_set_id'),
  );
  flow.wire(
    flow.node('stream-source', 'source'),
    flow.tabular('predict', 'predict', { name: `revision ${revision}`, model: 'm', batchRows: 20 }),
    flow.node('stream-sink', 'sink'),
  );
  return flow.nodes;
}

async function get<T>(red: RealNodeRed, route: string): Promise<T> {
  return (await (await fetch(`${red.url}/stream/${route}`)).json()) as T;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Fits until a new model is known; a fit may fail by the faults, then the next one is asked for. */
async function trained(red: RealNodeRed): Promise<void> {
  const before = red.debug.filter(({ id }) => id === 'card').length;
  for (let tries = 0; tries < 20; tries++) {
    await red.inject('train');
    const known = await red.shown('card', before + 1, 5_000).catch(() => undefined);
    if (known !== undefined) {
      return;
    }
  }
  throw new Error(`no fit went well\n${red.log()}`);
}

/** Sends no more messages, or goes on: without a model they would fail as fast as they are sent, and none be left. */
async function hold(red: RealNodeRed, on: boolean): Promise<void> {
  await fetch(`${red.url}/stream/hold`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ on }),
  });
}

async function redeploy(red: RealNodeRed, flow: FlowNode[], type: 'full' | 'nodes'): Promise<void> {
  const answer = await fetch(`${red.url}/flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'Node-RED-Deployment-Type': type },
    body: JSON.stringify(flow),
  });
  if (!answer.ok) {
    throw new Error(`deploy answered ${answer.status}: ${await answer.text()}`);
  }
}

export async function soak(options: SoakOptions): Promise<SoakSummary> {
  const { messages, seed, redeploys, log = () => undefined } = options;
  const random = seededRandom(seed);
  const faults: Record<string, number> = {};
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-soak-'));
  const service = await startStrictService({ predictMs: 5 });
  const red = await startNodeRed({
    flows: [],
    link: {
      'node-red-contrib-tabular-prediction': path.resolve(__dirname, '..', '..'),
      'node-red-contrib-stream-test': path.join(__dirname, 'stream-nodes'),
    },
    env: { TMPDIR: temp },
  });
  try {
    let revision = 0;
    await red.deploy(soakFlow(service, revision));
    await trained(red);
    const before = await get<ProcessState>(red, 'process');
    const outage = new Outage();
    addFaults(service, random, options.faultRate ?? 0.08, faults, outage);
    const planned = Array.from({ length: options.outages ?? 1 }, () => OUTAGES).flat();
    const outages: SoakSummary['outages'] = [];

    await startStream(red, { count: messages, window: 300, watch: true });
    let early: ProcessState | undefined;
    let peakHeapMb = 0;
    let done = 0;
    let turns = 0;
    let fitted = 0;
    let state = await get<StreamState>(red, 'state');
    const limit = Date.now() + 30_000 + messages * 10 + planned.length * 15_000;
    while (!state.finished || state.fits.ended < state.fits.taken) {
      if (Date.now() > limit) {
        throw new Error(`did not end: ${JSON.stringify(state)}\n${red.log()}`);
      }
      await sleep(100);
      if (done < redeploys && state.ended >= ((done + 1) * messages) / (redeploys + 1)) {
        done += 1;
        revision += 1;
        const type = random() < 0.5 ? 'full' : 'nodes';
        await redeploy(red, soakFlow(service, revision), type);
        log(`redeploy ${done} (${type}) after ${state.ended} messages`);
      } else if (state.ended >= ((fitted + 0.5) * messages) / (2 * redeploys + 1)) {
        fitted += 1;
        await red.inject('train');
      } else if (state.ended >= ((outages.length + 0.4) * messages) / (planned.length + 1)) {
        const kind = planned[outages.length];
        if (kind !== undefined) {
          outages.push({ kind, sent: state.sent });
          log(`the service ${kind} after ${state.ended} messages`);
          outage.begin(kind, service);
          if (kind === 'deletes the model') {
            // Messages wait for a fit that has begun: first one must meet the model that is gone.
            await met(red, 'model.unknown');
            await hold(red, true);
            await trained(red);
            await hold(red, false);
          }
        }
      }
      state = await get<StreamState>(red, 'state');
      if (early === undefined && state.ended >= messages / 5) {
        early = await get<ProcessState>(red, 'process');
      } else if (++turns % 50 === 0) {
        peakHeapMb = Math.max(peakHeapMb, (await get<ProcessState>(red, 'process')).heapMb);
      }
    }
    await sleep(500);
    state = await get<StreamState>(red, 'state');
    await redeploy(red, [{ id: 'tab', type: 'tab', label: 'empty' }], 'full');
    await sleep(1_000);
    const after = await get<ProcessState>(red, 'process');
    return {
      state,
      seconds: state.ms / 1000,
      redeploys: done,
      requests: service.served,
      faults,
      outages,
      breaches: service.breaches,
      before,
      early: early ?? before,
      after,
      peakHeapMb,
      connectionsAfter: service.connections,
      tempFilesAfter: filesIn(temp),
      log: red.log(),
    };
  } finally {
    await red.stop();
    await service.close();
    fs.rmSync(temp, { recursive: true, force: true });
  }
}

/** Waits, 15 s at most, until a message has ended with this code: whether it has is judged in the end. */
async function met(red: RealNodeRed, code: string): Promise<void> {
  for (let turn = 0; turn < 1500; turn++) {
    const { codes, finished } = await get<StreamState>(red, 'state');
    if (code in codes || finished) {
      return;
    }
    await sleep(10);
  }
}

/** What of ours is in the temporary folder; the encoder's own folder stays for the life of the process. */
function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => file.startsWith('tabular-prediction-'));
}

/** What is wrong with a run, as sentences; none where every message was accounted for and nothing was left behind. */
export function soakFaults(summary: SoakSummary, messages: number): string[] {
  const { state, before, early, after } = summary;
  const wrong: string[] = [];
  const rule = (holds: boolean, text: string) => {
    if (!holds) {
      wrong.push(text);
    }
  };
  rule(state.ended === messages, `${state.ended} of ${messages} messages ended exactly once`);
  rule(state.both === 0, `${state.both} messages left with neither or both of an output and an error`);
  rule(state.doubled === 0, `${state.doubled} messages were doubled`);
  rule(state.mixed.length === 0, `mixed up: ${JSON.stringify(state.mixed)}`);
  rule(state.unordered.length === 0, `out of order: ${JSON.stringify(state.unordered)}`);
  rule(state.fits.taken === state.fits.ended, `${state.fits.ended} of ${state.fits.taken} fits ended`);
  // How many meet a redeploy or a model that is gone depends on how busy the machine is: two windows of each at most.
  const { closed = 0, 'model.unknown': unknown = 0 } = state.codes;
  const scorable = messages - closed - unknown;
  rule(state.sent > 0.7 * scorable, `only ${state.sent} of ${scorable} were scored`);
  rule(state.sent > messages / 3, `only ${state.sent} of ${messages} were scored`);
  rule(summary.outages.length > 0, 'the service had no outage');
  const codesOf: Record<OutageKind, string[]> = {
    'goes silent': ['service.timeout', 'predict.unknown'],
    'refuses the token': ['auth.unauthorized'],
    'deletes the model': ['model.unknown'],
  };
  for (const { kind, sent } of summary.outages) {
    rule(
      codesOf[kind].some((code) => code in state.codes),
      `no message says that the service ${kind}: ${JSON.stringify(state.codes)}`,
    );
    rule(state.sent > sent, `nothing was scored after the service ${kind}`);
  }
  rule(summary.breaches.length === 0, `breaches: ${[...new Set(summary.breaches)].slice(0, 5).join('; ')}`);
  rule(!('internal' in state.codes), `errors of our own: ${JSON.stringify(state.codes)}`);
  rule(after.heapMb < early.heapMb + 15, `heap grew from ${early.heapMb} to ${after.heapMb} MB`);
  rule(after.files <= before.files, `${after.files} open files and sockets, ${before.files} before`);
  rule(summary.connectionsAfter === 0, `${summary.connectionsAfter} connections are left`);
  rule(summary.tempFilesAfter.length === 0, `left behind: ${summary.tempFilesAfter.join(', ')}`);
  return wrong;
}
