import { Yielder } from '../util/concurrency';
import { NewerFile } from '../util/files';
import { isObject, tryParseJson } from '../util/values';
import { ALWAYS, type KnownValue } from './known-ahead';
import { heldReadings, type KeptRow, type Machine, type WaitingRow } from './machine';
import type { Sensor, SensorKind } from './sensors';
import type { SeriesState } from './state';
import type { SeriesSettings } from './types';

/*
 * The lines of a journal: one JSON array each, its kind first. Sensors and words are numbered in the order of their lines,
 * and readings, rows and blocks refer to them by number. Missing values (NaN) are null.
 */
const FORMAT = 2;

type Cells = readonly (number | null)[];

/** The settings that rows depend on: rows made with others cannot be used. */
function fingerprint({ outcome, aheads, windows, every, timezone, knownAhead }: SeriesSettings): string {
  const ahead = knownAhead.length === 0 ? [] : [knownAhead];
  return JSON.stringify([FORMAT, outcome, aheads, windows, every, timezone, ...ahead]);
}

export const record = {
  header: (settings: SeriesSettings): string => JSON.stringify(['journal', fingerprint(settings)]),
  sensor: ({ name, kind }: Sensor): string => JSON.stringify(['sensor', name, kind]),
  word: ({ index }: Sensor, word: string): string => JSON.stringify(['word', index, word]),
  reading: (key: string | null, time: number, flag: number, cells: readonly number[]): string =>
    JSON.stringify(['r', key, time, flag, cells]),
  planned: (key: string | null, sensor: number, { time, since, value }: KnownValue): string =>
    JSON.stringify(['p', key, sensor, time, since, value]),
  kept: ({ key, time, ahead, truth, row }: KeptRow): string =>
    JSON.stringify(['k', key, time, ahead, truth, Array.from(row)]),
  waiting: ({ key, time, ahead, row, hasLeft }: WaitingRow): string =>
    JSON.stringify(['waits', key, time, ahead, Array.from(row), ...(hasLeft ? [] : [false])]),
  /** Schedule, counters, labels, and whether readings tell their time. */
  summary: ({ schedule, counts, labels, isTimed }: SeriesState): string => {
    const { trainSets, trainedAt, outcomesThen, keptThen, decayWaits } = schedule;
    const trained = { trainSets, trainedAt, outcomesThen, keptThen, decayWaits };
    const known = { kind: labels.kind, words: labels.words };
    return JSON.stringify(['summary', trained, counts, known, { isTimed }]);
  },
};

/** The state as lines, from which `Replay` restores it. */
export function* snapshot(state: SeriesState): IterableIterator<string> {
  yield record.header(state.settings);
  for (const sensor of state.sensors.list) {
    yield record.sensor(sensor);
    for (const word of sensor.words) {
      yield record.word(sensor, word);
    }
  }
  for (const [key, sensor, told] of state.knownAhead.entries()) {
    yield record.planned(key, sensor, told);
  }
  for (const row of state.kept) {
    yield record.kept(row);
  }
  for (const row of state.waiting.values()) {
    yield record.waiting(row);
  }
  for (const machine of state.machines.values()) {
    yield* machineLines(machine, state.pending.settledUntil(machine));
  }
  // Last, since these counters override what the lines before have counted; lines after it add to them.
  yield record.summary(state);
}

function* machineLines(machine: Machine, settled: number): IterableIterator<string> {
  const { key, clock, history, tracks } = machine;
  yield JSON.stringify(['machine', key, settled, machine.keptUntil]);
  for (const [sensor, track] of tracks.entries()) {
    for (const block of track?.goneBlocks ?? []) {
      yield JSON.stringify(['block', key, sensor, block]);
    }
  }
  for (let i = 0; i < history.size; i++) {
    yield JSON.stringify(['h', key, history.time(i), history.value(i)]);
  }
  for (const { time, cells } of heldReadings(machine).sort((a, b) => a.time - b.time)) {
    const at = clock.countUntil(time) - 1;
    const isKnown = at >= 0 && clock.time(at) === time;
    yield record.reading(key, time, isKnown ? clock.value(at) : 0, cells);
  }
}

/** Bytes of a line of a kind where none has been read. */
const LINE_BYTES: Readonly<Record<string, number>> = {
  r: 100,
  h: 40,
  block: 160,
  p: 60,
  k: 1000,
  waits: 1000,
};

/** Restores a state from lines, in the order in which they were written. */
export class Replay {
  /** Lines that could not be read. */
  unreadable = 0;
  /** Whether the rows were made with other settings. */
  isForeign = false;
  /** How many lines of each kind have been read, and their bytes. */
  private readonly read = new Map<unknown, { lines: number; bytes: number }>();
  private readonly floors = new Map<Machine, number>();

  constructor(private readonly state: SeriesState) {}

  /** @throws NewerFile where a newer version of this package wrote the journal */
  line(text: string): void {
    try {
      const fields = JSON.parse(text) as unknown[];
      this.count(fields[0], text.length + 1);
      this.take(fields);
    } catch (error) {
      if (error instanceof NewerFile) {
        throw error;
      }
      this.unreadable++;
    }
  }

  /** After the last line: recomputes rows that had been released but not settled. */
  async end(): Promise<void> {
    const { state } = this;
    const { counts } = state;
    const yielder = new Yielder();
    for (const machine of state.machines.values()) {
      const floor = this.isForeign ? -Infinity : (this.floors.get(machine) ?? -Infinity);
      machine.tidy(-Infinity);
      state.pending.watermark(machine);
      machine.released.forEach((_, k) => {
        machine.released[k] = Math.max(machine.keptUntil[k]!, floor);
      });
      for (const released of state.pending.release(machine)) {
        counts.outcomes += this.isForeign && released.machine === machine ? 1 : 0;
        await yielder.due();
      }
      state.pending.settle(machine);
      machine.tidy(state.pending.settledUntil(machine));
    }
    state.numbers = [...state.machines.values()].reduce((sum, { numbers }) => sum + numbers, 0);
  }

  /** About how many bytes of the lines are still needed: what a snapshot of the state takes. */
  get needed(): number {
    const { state } = this;
    const needed = {
      r: 0,
      h: 0,
      block: 0,
      p: state.knownAhead.size,
      k: state.kept.size,
      waits: state.waiting.size,
    };
    for (const { clock, history, tracks } of state.machines.values()) {
      needed.r += clock.size;
      needed.h += history.size;
      tracks.forEach((track) => (needed.block += track?.goneBlocks.length ?? 0));
    }
    let bytes = 0;
    for (const [kind, lines] of Object.entries(needed)) {
      const read = this.read.get(kind);
      bytes += lines * (read === undefined ? LINE_BYTES[kind]! : read.bytes / read.lines);
    }
    for (const kind of ['sensor', 'word', 'machine']) {
      bytes += this.read.get(kind)?.bytes ?? 0;
    }
    return bytes;
  }

  private count(kind: unknown, bytes: number): void {
    const read = this.read.get(kind);
    if (read === undefined) {
      this.read.set(kind, { lines: 1, bytes });
    } else {
      read.lines++;
      read.bytes += bytes;
    }
  }

  private take(fields: unknown[]): void {
    const { state } = this;
    const [kind, ...rest] = fields;
    switch (kind) {
      case 'journal':
        assertKnown(rest[0]);
        this.isForeign = rest[0] !== fingerprint(state.settings);
        return;
      case 'sensor':
        state.sensors.restore(rest[0] as string, rest[1] as SensorKind);
        return;
      case 'word':
        state.sensors.restoreWord(state.sensors.list[rest[0] as number]!, rest[1] as string);
        return;
      case 'r':
        this.reading(rest as [string | null, number, number, number[]]);
        return;
      case 'p': {
        const [key, sensor, time, since, value] = rest as [string | null, number, number, Cells[0], number];
        state.knownAhead.put(key, sensor, { time, since: since ?? ALWAYS, value });
        return;
      }
      case 'h':
        state.machine(rest[0] as string | null).putHistory(rest[1] as number, rest[2] as number);
        return;
      default:
        if (!this.isForeign) {
          this.takeOwn(kind, rest);
        }
    }
  }

  /** Lines that hold only for the same settings. */
  private takeOwn(kind: unknown, rest: unknown[]): void {
    const { state } = this;
    switch (kind) {
      case 'k': {
        const [key, time, ahead, truth, row] = rest as [string | null, number, number, number, Cells];
        state.waiting.take(state.address(key, time, ahead).id);
        state.kept.add({ key, time, ahead, truth, row: takeNumbers(row) });
        const k = state.settings.aheads.indexOf(ahead);
        const machine = state.machine(key);
        machine.keptUntil[k] = Math.max(machine.keptUntil[k] ?? -Infinity, time);
        return;
      }
      case 'waits': {
        const [key, time, ahead, row, hasLeft = true] = rest as [
          string | null,
          number,
          number,
          Cells,
          boolean | undefined,
        ];
        const one = { key, time, ahead, row: takeNumbers(row), truth: NaN, hasLeft };
        state.waiting.add(state.address(key, time, ahead).id, one);
        return;
      }
      case 'machine': {
        const [key, settled, keptUntil] = rest as [string | null, number | null, Cells];
        const machine = state.machine(key);
        this.floors.set(machine, settled ?? -Infinity);
        keptUntil.forEach((time, k) => (machine.keptUntil[k] = time ?? -Infinity));
        return;
      }
      case 'block': {
        const [key, sensor, block] = rest as [string | null, number, Record<string, number | null>];
        const entries = Object.entries(block).map(([name, value]) => [name, value ?? NaN]);
        state
          .machine(key)
          .track(sensor)
          .restoreBlocks([Object.fromEntries(entries)]);
        return;
      }
      case 'summary': {
        const [trained, counts, labels, times] = rest;
        if (isObject(trained) && isObject(counts) && isObject(labels)) {
          Object.assign(state.schedule, trained);
          Object.assign(state.counts, counts);
          state.labels.restore(labels as unknown as Parameters<typeof state.labels.restore>[0]);
        }
        if (isObject(times)) {
          state.isTimed = times.isTimed === true;
        }
        return;
      }
    }
  }

  private reading([key, time, flag, cells]: [string | null, number, number, number[]]): void {
    const { state } = this;
    const { duplicates } = state.counts;
    const machine = state.machine(key);
    state.put(machine, { time, cells }, flag);
    state.counts.duplicates = duplicates;
    state.counts.readings++;
    state.tidy(machine);
  }
}

/** @throws NewerFile */
function assertKnown(fingerprint: unknown): void {
  const [format] = [tryParseJson(String(fingerprint))].flat();
  if (typeof format === 'number' && format > FORMAT) {
    throw new NewerFile(format, FORMAT);
  }
}

function takeNumbers(cells: Cells): Float64Array {
  return Float64Array.from(cells, (cell) => cell ?? NaN);
}
