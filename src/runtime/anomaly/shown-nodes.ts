import type { Detector, Episode, RecentSensor } from '../../anomaly';
import { ServiceError } from '../../wire/service-error';
import { nodeChanged } from '../model-changed';
import type { NodeRuntime } from '../node-runtime';
import { type AnomalyKeeper, checkedAnswer } from './keeper';

/** Sensors with a picture at once. */
const MOST_PICTURES = 12;
/** Numbers leave with so many digits. */
const DIGITS = 6;

/** A machine in the list of the sidebar. */
interface ListedMachine {
  key: string | null;
  state: 'learning' | 'usual' | 'unusual' | 'new' | 'late';
  rows: number;
  needed: number;
  /** Milliseconds of readings that it knows. */
  knows: number;
  /** The alarm under way, unless it was called usual: since when, in milliseconds since 1970. */
  alarm?: number;
  /** Periods of the history that people are asked about. */
  asked?: number;
  /** Sensors that have moved slowly. */
  moved?: number;
}

/** Something that happened to a machine, as the list of a watched model has it. */
interface ShownChange {
  what: 'alarm' | 'moved';
  since: number;
  /** Left out while it goes on. */
  until?: number;
  /** Of an alarm: what it says, which the sidebar tells in the language of the editor. */
  said?: Episode['said'];
  /** Of an alarm that was kept without that: the sensor in front. */
  text?: string;
  /** Of a sensor that has moved: which, and by how much in its unit. */
  column?: string;
  by?: number;
  /** By which people answer. */
  id: string;
  answer?: 'real' | 'usual';
}

/** Of a sensor: what it was, what was expected, and what 90 % of the rows are between. null: it was missing. */
interface ShownBand<Numbers> {
  value: Numbers;
  expected: Numbers;
  low: Numbers;
  high: Numbers;
}

interface ShownSensor {
  column: string;
  /** In how many of the rows it was off. */
  off: number;
  now: ShownBand<number | null>;
  /** The newest rows, in order, and the places of those in which it was off; left out where it has no picture. */
  rows?: ShownBand<(number | null)[]> & { off: number[] };
}

/** What the sidebar shows of an opened machine. */
interface ShownMachine extends ListedMachine {
  /** Of the newest rows, in milliseconds since 1970. */
  times: number[];
  /** Those that were off most are first. */
  sensors: ShownSensor[];
  changes: ShownChange[];
  periods: { start: number; end: number }[];
}

function listedMachine(key: string | null, machine: Detector, needed: number): ListedMachine {
  const { isKnowing, rows, knows, episode } = machine;
  const [asked, moved] = [machine.question.length, machine.movements.length];
  return {
    key,
    rows,
    needed,
    knows,
    state: machine.state ?? (isKnowing ? 'usual' : 'learning'),
    ...(episode?.id !== undefined && episode.answer !== 'usual' && { alarm: episode.start }),
    ...(asked > 0 && { asked }),
    ...(moved > 0 && { moved }),
  };
}

/** @param wanted columns that have a picture; left out: those that were off most */
function shownMachine(
  key: string | null,
  machine: Detector,
  needed: number,
  wanted: readonly string[] = [],
): ShownMachine {
  const { recent } = machine;
  const sensors = (recent?.sensors ?? [])
    .map((column, place) => {
      const rows = recent!.sensor(place);
      return { column, rows, off: rows.off.reduce((sum, one) => sum + one, 0) };
    })
    .sort((a, b) => Number(wanted.includes(b.column)) - Number(wanted.includes(a.column)) || b.off - a.off)
    .map(({ column, rows, off }, place) => ({
      column,
      off,
      now: makeBand(rows, (numbers) => short(numbers.at(-1))),
      // The rows of a hundred sensors would hold the event loop.
      ...(place < MOST_PICTURES && {
        rows: {
          ...makeBand(rows, (numbers) => Array.from(numbers, short)),
          off: [...rows.off.keys()].filter((row) => rows.off[row] === 1),
        },
      }),
    }));
  return {
    ...listedMachine(key, machine, needed),
    times: Array.from(recent?.allTimes ?? []),
    sensors,
    changes: listChanges(machine),
    periods: machine.question,
  };
}

function makeBand<Numbers>(
  { value, expected, low, high }: RecentSensor,
  shown: (numbers: Float32Array) => Numbers,
): ShownBand<Numbers> {
  return { value: shown(value), expected: shown(expected), low: shown(low), high: shown(high) };
}

/** Alarms and movements, the oldest first. */
function listChanges({ episodes, episode, movements }: Detector): ShownChange[] {
  const alarms = episodes.map((one): ShownChange => {
    const { id, start, end, answer, said, front = '' } = one;
    return {
      what: 'alarm',
      since: start,
      id: id!,
      ...(one !== episode && { until: end }),
      ...(answer !== undefined && { answer }),
      // The first alarms of a version before did not keep what they said.
      ...(said === undefined ? { text: front } : { said }),
    };
  });
  const moved = movements.map(({ id, column, by, since, isReal }): ShownChange => ({
    what: 'moved',
    since,
    id,
    column,
    by,
    ...(isReal && { answer: 'real' }),
  }));
  return [...alarms, ...moved].sort((a, b) => a.since - b.since);
}

function short(value = NaN): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(DIGITS));
}

/** An anomaly node in the list of the sidebar. */
interface ListedNode {
  id: string;
  /** Empty where it has none. */
  name: string;
  machines: ListedMachine[];
}

/** All anomaly nodes that are there. */
const showing = new Map<string, ShownNode>();

/** Enters a node. It leaves as it is closed. */
export function showInSidebar(runtime: NodeRuntime, keeper: AnomalyKeeper): void {
  const { node } = runtime;
  const shown = new ShownNode(runtime, keeper);
  showing.set(node.id, shown);
  node.on('close', () => {
    if (showing.get(node.id) === shown) {
      showing.delete(node.id);
    }
  });
}

export function listedNodes(): ListedNode[] {
  return [...showing.values()].map((node) => node.listed);
}

/** @throws ServiceError `not_found` */
export function shownNode(id: string): ShownNode {
  const node = showing.get(id);
  if (node === undefined) {
    throw new ServiceError('not_found', `There is no anomaly node ${id.slice(0, 100)}: deploy it first.`);
  }
  return node;
}

/** A query or a body. */
type Asked = Record<string, unknown>;

/**
 * An anomaly node, as the sidebar asks it. A machine is named by its `key`, which may hold any character; without one,
 * all readings are of one machine.
 */
class ShownNode {
  constructor(
    private readonly runtime: NodeRuntime,
    private readonly keeper: AnomalyKeeper,
  ) {}

  /** Its machines. Of a node that has had no reading since its start, and has kept nothing, none. */
  get listed(): ListedNode {
    const { current } = this.keeper;
    const machines = [...(current?.known ?? [])].map(([key, machine]) =>
      listedMachine(key, machine, current!.progress.needed),
    );
    return { id: this.runtime.id, name: this.runtime.node.name ?? '', machines };
  }

  /**
   * @param asked the key of a machine, left out where all readings are of one; the columns whose rows are shown first
   * @throws ServiceError `not_found`
   */
  machine({ key, column }: Asked): ShownMachine {
    const { current } = this.keeper;
    const of = readKey(key) ?? null;
    const machine = current?.known.get(of);
    if (machine === undefined) {
      throw new ServiceError('not_found', 'There is no such machine now.');
    }
    return shownMachine(of, machine, current!.progress.needed, readTexts(column));
  }

  /** What a person says of an alarm or of a sensor that has moved. @throws ServiceError `validation.failed`, `outcome.unknown` */
  async confirm({ key, id, answer }: Asked): Promise<{ answer: unknown }> {
    const said = checkedAnswer('The property "answer"', answer, ['real', 'usual']);
    await (await this.keeper.open()).confirm(said, String(id), readKey(key));
    nodeChanged(this.runtime.red, this.runtime.id, true);
    return { answer };
  }

  /** What a person says of the odd periods of the history. @throws as `confirm` */
  async odd({ key, answer }: Asked): Promise<{ answer: unknown }> {
    const said = checkedAnswer('The property "answer"', answer, ['usual', 'faults']);
    await (await this.keeper.open()).odd(said, readKey(key));
    nodeChanged(this.runtime.red, this.runtime.id, true);
    return { answer };
  }
}

function readKey(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What is in a query once, several times, or not at all. */
function readTexts(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}
