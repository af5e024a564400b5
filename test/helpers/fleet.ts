import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openSeries, parseSeriesSettings } from '../doors/series';
import { type Mosquitto, type MosquittoOptions, startMosquitto } from './mosquitto';
import { type FlowNode, type RealNodeRed, root, startNodeRed } from './node-red';
import { removedAtEnd } from './temporary';
import { waitFor } from './wait';

/** Milliseconds between two readings, in place of the second of the example. */
const STEP_MS = 200;
/** How far ahead and back is looked, in place of half a minute and more. */
const AHEAD = '3s';
/** How many readings a machine remembers, in place of 600. */
const REMEMBERED = 1_500;
/** Readings that the motor knows of its past, in place of 600: enough for a first model. */
const HISTORY = 200;
/** Between two looks at the rows of the hub. */
const LOOK_MS = 500;
/** Rows that the hub fits anew after. */
const TRAIN_ROWS = 300;

export const HUB = 'hub';

/** A reading of the motor, as the machine made it; its number counts the steps. */
export interface FleetReading {
  time: number;
  number: number;
  [column: string]: number;
}

/** A row of the hub with its outcome. */
type FleetRow = Record<string, number | string> & { key: string; number: number };

export interface PredictedBy {
  name: string;
  version: number;
  fitted_train_set_id: string;
}

function example(name: string): FlowNode[] {
  return JSON.parse(
    fs.readFileSync(path.join(root, 'examples', `Fleet over MQTT, ${name}.json`), 'utf8'),
  ) as FlowNode[];
}

function node(flow: FlowNode[], type: string, name: string): FlowNode {
  const found = flow.find((other) => other.type === type && other.name === name);
  if (found === undefined) {
    throw new Error(`${type} "${name}"`);
  }
  return found;
}

/** Replaces a part of a text that must be there. */
function replaced(text: unknown, part: string, by: string): string {
  if (typeof text !== 'string' || !text.includes(part)) {
    throw new Error(`no "${part}"`);
  }
  return text.replace(part, by);
}

const nameOf = ({ key, number }: FleetRow): string => `${key} ${number}`;

/** The rows with an outcome that a hub makes of these readings. */
async function rowsOf(readings: ReadonlyMap<string, readonly FleetReading[]>): Promise<FleetRow[]> {
  const series = await openSeries(
    parseSeriesSettings({ key: 'key', column: 'motor_c', ahead: AHEAD, windows: AHEAD, train: 'never' }),
  );
  try {
    await series.backfill([...readings].flatMap(([key, own]) => own.map((one) => ({ ...one, key }))));
    const trainSet = await series.train('asked');
    return (await trainSet!.rows()) as FleetRow[];
  } finally {
    await series.close();
  }
}

/**
 * The examples "Fleet over MQTT" as processes: a hub and machines, each in a Node-RED of its own, and a broker. They are
 * five times as quick as the examples. What a machine reads and what of it the broker has acknowledged go to files as well,
 * and so do the train sets of the hub.
 */
export class Fleet {
  private readonly running = new Map<string, RealNodeRed>();
  private readonly folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-fleet-')));
  private readonly flows = new Map<string, FlowNode[]>();

  private constructor(readonly broker: Mosquitto) {}

  static async withBroker(binary: string, options?: MosquittoOptions): Promise<Fleet> {
    return new Fleet(await startMosquitto(binary, options));
  }

  /** The flow of the hub, or of a machine by its name. */
  flow(name: string): FlowNode[] {
    let flow = this.flows.get(name);
    if (flow === undefined) {
      flow = name === HUB ? this.hubFlow() : this.machineFlow(name);
      node(flow, 'mqtt-broker', 'Broker').port = String(this.broker.port);
      Object.assign(node(flow, 'tabular-series', 'heat in 30 s'), { ahead: AHEAD, windows: AHEAD });
      this.flows.set(name, flow);
    }
    return flow;
  }

  private hubFlow(): FlowNode[] {
    const flow = example('hub');
    const z = flow.find(({ type }) => type === 'tab')!.id;
    const fit = node(flow, 'tabular-fit', 'motor heat');
    const series = node(flow, 'tabular-series', 'heat in 30 s');
    Object.assign(fit, {
      // Its number tells which reading a row is of: nothing to learn from.
      ignore: 'key, number, number change 3s, number mean 3s, number spread 3s',
      options: '{"n_estimators":1}',
      replace: 'always',
    });
    series.train = `${TRAIN_ROWS} rows`;
    (series.wires as string[][])[2] = ['train sets'];
    flow.push(
      {
        ...{ id: 'ask', type: 'inject', z, x: 1, y: 1, wires: [[series.id]] },
        props: [{ p: 'train', v: 'true', vt: 'bool' }],
      },
      {
        ...{ id: 'train sets', type: 'file', z, x: 1, y: 1, wires: [['train set', 'unasked']] },
        ...{ filename: this.file('train-set.json'), filenameType: 'str', overwriteFile: 'true' },
      },
      {
        ...{ id: 'train set', type: 'debug', z, x: 1, y: 1, wires: [] },
        ...{ active: true, tosidebar: true, complete: 'train', targetType: 'msg' },
      },
      {
        ...{ id: 'unasked', type: 'switch', z, x: 1, y: 1, wires: [[fit.id]] },
        ...{ property: 'train.reason', propertyType: 'msg', checkall: 'true', outputs: 1 },
        rules: [{ t: 'neq', v: 'asked', vt: 'str' }],
      },
    );
    return flow;
  }

  private machineFlow(name: string): FlowNode[] {
    const flow = example('machine');
    const tab = flow.find(({ type }) => type === 'tab') as FlowNode & { env: { value: string }[] };
    tab.env[0]!.value = name;
    node(flow, 'inject', 'every second').repeat = String(STEP_MS / 1000);
    const motor = node(flow, 'function', 'Motor');
    motor.func = replaced(motor.func, 'const STEP_MS = 1000', `const STEP_MS = ${STEP_MS}`);
    motor.func = replaced(motor.func, 'const HISTORY = 600', `const HISTORY = ${HISTORY}`);
    motor.func = replaced(motor.func, 'time: number * STEP_MS,', 'time: number * STEP_MS, number,');
    const remember = node(flow, 'change', 'remember ten minutes') as FlowNode & { rules: { to: string }[] };
    remember.rules[0]!.to = replaced(remember.rules[0]!.to, '/ 1000) % 600', `/ ${STEP_MS}) % ${REMEMBERED}`);
    (node(flow, 'change', 'under its name').wires as string[][])[0]!.push('readings');
    node(flow, 'debug', 'forecast').active = true;
    const written = (id: string): FlowNode => ({
      ...{ id, type: 'file', z: tab.id, x: 1, y: 1, wires: [] },
      ...{
        filename: this.file(`${name} ${id}`),
        filenameType: 'str',
        overwriteFile: 'false',
        appendNewline: true,
      },
    });
    flow.push(written('readings'), written('acknowledged'), {
      ...{ id: 'complete', type: 'complete', z: tab.id, x: 1, y: 1, uncaught: false },
      ...{ scope: [node(flow, 'mqtt out', 'send').id], wires: [['acknowledged']] },
    });
    return flow;
  }

  private file(name: string): string {
    return path.join(this.folder, name);
  }

  /** The Node-RED of the hub or of a machine, while it runs. */
  red(name: string): RealNodeRed {
    return this.running.get(name)!;
  }

  id(name: string, type: string, named: string): string {
    return node(this.flow(name), type, named).id;
  }

  async start(name: string): Promise<void> {
    const red = await startNodeRed({
      flows: this.flow(name),
      userDir: this.file(name),
      settings: 'mqttReconnectTime: 200,',
    });
    this.running.set(name, red);
  }

  /** Ends the hub or a machine as `kill -9` does. The motor does not tell its past when the machine is there again. */
  async kill(name: string): Promise<void> {
    const red = this.red(name);
    const gone = once(red.process, 'exit');
    red.process.kill('SIGKILL');
    await gone;
    // Closes what listens to it.
    await red.stop();
    this.running.delete(name);
    if (name !== HUB) {
      node(this.flow(name), 'inject', 'at start').once = false;
    }
  }

  /** What a machine has read so far, oldest first. */
  readings(machine: string): FleetReading[] {
    return linesOf(this.file(`${machine} readings`));
  }

  /** What of it the broker has acknowledged. */
  acknowledged(machine: string): FleetReading[] {
    return linesOf(this.file(`${machine} acknowledged`));
  }

  /** Waits until a machine has read so many times from now on. */
  async readOn(machine: string, count: number): Promise<void> {
    const before = this.readings(machine).length;
    await waitFor(
      `${count} readings of ${machine}`,
      () => this.readings(machine).length >= before + count || undefined,
    );
  }

  /** All rows of the hub with their outcome, asked for now. */
  private async trainSet(): Promise<FleetRow[]> {
    const hub = this.red(HUB);
    const asked = () =>
      hub.debug.filter(({ id, msg }) => id === 'train set' && (msg as { reason: string }).reason === 'asked');
    const before = asked().length;
    await hub.inject('ask');
    await waitFor('a train set', () => asked().length > before || undefined).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${hub.log()}\n${JSON.stringify([...hub.statuses])}`);
    });
    // The file is being written as the message is seen.
    return waitFor('a train set that is whole', () => {
      try {
        return JSON.parse(fs.readFileSync(this.file('train-set.json'), 'utf8')) as FleetRow[];
      } catch (error) {
        if (error instanceof SyntaxError) {
          return undefined;
        }
        throw error;
      }
    });
  }

  /** Waits until the hub has all rows that these readings make, by machine. */
  async arrived(readings: ReadonlyMap<string, readonly FleetReading[]>): Promise<void> {
    const wanted = (await rowsOf(readings)).map(nameOf);
    let missing = wanted;
    await waitFor(
      'the rows of all readings',
      async () => {
        const there = new Set((await this.trainSet()).map(nameOf));
        missing = wanted.filter((name) => !there.has(name));
        if (missing.length > 0) {
          // Each look has the hub make and write all rows that it has.
          await sleep(LOOK_MS);
        }
        return missing.length === 0;
      },
      60_000,
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)}: ${missing.length} of ${wanted.length} are missing: ${missing.slice(0, 20).join(', ')} …`,
      );
    });
  }

  /** Waits until the hub has on disk what it has now. */
  async onDisk(): Promise<void> {
    const folder = path.join(
      this.file(HUB),
      'tabular-prediction',
      'series',
      this.id(HUB, 'tabular-series', 'heat in 30 s'),
    );
    const now = Date.now();
    await waitFor(
      'the readings of the hub on disk',
      () => fs.readdirSync(folder).some((name) => modified(path.join(folder, name)) > now) || undefined,
    );
  }

  /** What the hub or a machine showed as errors since it was started: their codes. */
  errors(name: string): string[] {
    const shown = this.id(name, 'debug', 'error');
    return this.red(name)
      .debug.filter(({ id }) => id === shown)
      .map(({ msg }) => (msg as { code: string }).code);
  }

  /** Waits until a machine predicts anew, by a certain version of the model. */
  async predicts(machine: string, isIt: (by: PredictedBy) => boolean = () => true): Promise<PredictedBy> {
    const { debug } = this.red(machine);
    const from = debug.length;
    const shown = this.id(machine, 'debug', 'forecast');
    return waitFor(
      `a prediction of ${machine}`,
      () =>
        debug
          .slice(from)
          .filter(({ id }) => id === shown)
          .map(({ msg }) => (msg as { predicted_by: PredictedBy }).predicted_by)
          .find(isIt),
      120_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.red(machine).log()}`);
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.running.values()].map((red) => red.stop()));
    await this.broker.close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The readings in a file, each line one or several; a process that was killed may leave a part of a line. */
function linesOf(file: string): FleetReading[] {
  return fs.existsSync(file)
    ? fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /[}\]]$/.test(line))
        .flatMap((line) => JSON.parse(line) as FleetReading | FleetReading[])
    : [];
}

/** The milliseconds at which a file was written last; it may have been replaced meanwhile. */
function modified(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Which model is in a file that was published. */
export function idOf(file: Buffer): string {
  return /"fitted_train_set_id":"([0-9a-f-]+)"/.exec(file.toString('latin1'))![1]!;
}
