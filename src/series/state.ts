import { show } from '../table/cells/types';
import { showDuration } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import { SeriesFeatures } from './features';
import { KnownAhead } from './known-ahead';
import { type KeptRow, Machine } from './machine';
import { EVENT_LABELS, EventCounter, Labels, meets } from './outcome';
import { PendingOutcomes, RowsWithOutcome, WaitingRows } from './pending-outcomes';
import { type Sensor, Sensors } from './sensors';
import { type Timeline, Track } from './track';
import { FIRST_EVENTS, Schedule, type ScheduleFacts } from './train-sets';
import type { RowAddress, SeriesNote, SeriesSettings } from './types';

/** Bounds of one series: keys, and numbers held for readings. */
const MAX_KEYS = 1000;
const MAX_NUMBERS = 5_000_000;

/** Records what belongs on disk. */
export interface Recorder {
  sensor(sensor: Sensor, word?: string): void;
  kept(row: KeptRow): void;
}

const NO_COUNTS = {
  readings: 0,
  rows: 0,
  outcomes: 0,
  late: 0,
  future: 0,
  duplicates: 0,
  cellsMissing: 0,
  planned: 0,
  unknownAhead: 0,
};

/** Everything a series knows: machines with their readings, rows with their outcomes, plans, counters. */
export class SeriesState {
  readonly sensors: Sensors;
  readonly features: SeriesFeatures;
  readonly machines = new Map<string | null, Machine>();
  readonly knownAhead = new KnownAhead();
  readonly kept: RowsWithOutcome;
  readonly waiting: WaitingRows;
  readonly labels = new Labels();
  readonly pending: PendingOutcomes;
  readonly schedule: Schedule;
  readonly counts = { ...NO_COUNTS };
  /** Numbers that all machines hold. */
  numbers = 0;
  /** Whether readings tell their time. */
  isTimed = false;
  private readonly told = new Set<string>();
  private events: EventCounter;

  constructor(
    readonly settings: SeriesSettings,
    recorder: Recorder,
    private readonly notify: (note: SeriesNote) => void,
  ) {
    this.sensors = new Sensors(
      settings,
      (note, once) => this.tellOnce(note, once),
      (sensor, word) => recorder.sensor(sensor, word),
    );
    this.features = new SeriesFeatures(settings, this.sensors, this.knownAhead);
    this.kept = new RowsWithOutcome(settings.keep, (rows) =>
      this.tellOnce(
        {
          kind: 'rows dropped',
          text: `Rows have so many columns that only ${rows} rows are kept for train sets. Send fewer sensors, or set fewer windows.`,
        },
        'rows dropped',
      ),
    );
    this.waiting = new WaitingRows(settings.keep);
    this.schedule = new Schedule(settings.train);
    this.events = this.newCounter();
    this.pending = new PendingOutcomes(settings, this, (row) => recorder.kept(row));
  }

  /** @param once identifies the notice: by default its text */
  tellOnce(note: SeriesNote, once = note.text): void {
    if (!this.told.has(once)) {
      this.told.add(once);
      this.notify(note);
    }
  }

  /** The machine of a key, created if need be. @throws ServiceError limit.exceeded */
  machine(key: string | null): Machine {
    let machine = this.machines.get(key);
    if (machine === undefined) {
      this.checkKeys([key]);
      machine = new Machine(key, this.settings.aheads.length, this.features.longest);
      this.machines.set(key, machine);
      const note = keylessNote(this.machines.keys());
      if (note !== undefined) {
        this.tellOnce(note, note.kind);
      }
    }
    return machine;
  }

  /** Checks that there is room for machines with these distinct keys. @throws ServiceError limit.exceeded */
  checkKeys(keys: Iterable<string | null>): void {
    let count = this.machines.size;
    for (const key of keys) {
      if (!this.machines.has(key) && ++count > MAX_KEYS) {
        throw new ServiceError(
          'limit.exceeded',
          `${show(key)} is one more than the ${MAX_KEYS} keys that a series may have. Use a key with fewer values, split the machines over several series, or reset keys that are gone.`,
        );
      }
    }
  }

  /**
   * Checks that there is room for a reading with this many numbers, if need be by forgetting as many.
   *
   * @throws ServiceError limit.exceeded
   */
  checkRoom(numbers: number, key: string | null, time: number): void {
    if (this.numbers + numbers <= MAX_NUMBERS) {
      return;
    }
    const machine = this.machines.get(key);
    const settled = machine === undefined ? NaN : this.pending.settledUntil(machine) + time - machine.newest;
    if (!((machine?.forgettable(settled) ?? 0) > numbers)) {
      throw new ServiceError(
        'limit.exceeded',
        `The readings that ${this.machines.size} machines need for their windows are more than ${MAX_NUMBERS} numbers. Send readings less often or with fewer columns, or set shorter windows: the longest is ${showDuration(this.features.longest)}.`,
      );
    }
  }

  /**
   * Stores a reading.
   *
   * @param flag what becomes of it, as the machine's clock has it
   * @returns whether it is the newest of its machine
   */
  put(machine: Machine, reading: PlacedCells, flag: number): boolean {
    const { time, cells } = reading;
    const before = machine.numbers;
    const isNewest = time > machine.newest;
    if (placeReading(machine, this, reading, flag)) {
      this.counts.duplicates++;
    }
    machine.numbers += cells.length / 2 + 1;
    this.numbers += machine.numbers - before;
    return isNewest;
  }

  /** Forgets what no row needs any more, from time to time or where space is short. */
  tidy(machine: Machine): void {
    if (machine.isTidyDue || this.numbers > MAX_NUMBERS) {
      const before = machine.numbers;
      machine.tidy(this.pending.settledUntil(machine));
      this.knownAhead.forgetPast(machine);
      this.numbers += machine.numbers - before;
    }
  }

  /** Forgets a machine, and those of its rows for which this is true. */
  forget(machine: Machine, isDropped: (row: KeptRow) => boolean): void {
    this.numbers -= machine.numbers;
    this.events = this.newCounter();
    this.pending.forget(machine);
    this.machines.delete(machine.key);
    this.kept.dropWhere((row) => row.key === machine.key && isDropped(row));
    this.waiting.dropWhere((row) => row.key === machine.key && isDropped(row));
  }

  /** Forgets everything about one key: its readings, rows and plan, and the warnings about it. */
  forgetKey(key: string | null): void {
    const machine = this.machines.get(key);
    if (machine !== undefined) {
      this.forget(machine, () => true);
    }
    this.knownAhead.forget(key);
    for (const kind of ['future', 'late', 'clock']) {
      this.told.delete(`${kind} ${key}`);
    }
  }

  address(key: string | null, time: number, ahead: number): RowAddress {
    const { kind } = this.settings.outcome;
    const hasAhead = kind === 'column' || kind === 'event';
    const id = `${key === null ? '' : `${key}@`}${time}${hasAhead ? `+${ahead}` : ''}`;
    return { key, time, ahead: hasAhead ? ahead : null, id };
  }

  /** The aheads that a reading has rows for. */
  get rowAheads(): readonly number[] {
    const { aheads } = this.settings;
    return this.pending.isFromReadings ? aheads : aheads.slice(0, 1);
  }

  /** Time of a machine's newest reading; where it has none, of the newest of all. */
  findNewest(key: string | null): number {
    const own = this.machines.get(key)?.newest ?? -Infinity;
    if (own > -Infinity) {
      return own;
    }
    let newest = -Infinity;
    for (const machine of this.machines.values()) {
      newest = Math.max(newest, machine.newest);
    }
    return newest;
  }

  /** The column whose later value is the outcome. */
  get outcomeSensor(): Sensor | undefined {
    const { outcome } = this.settings;
    return outcome.kind === 'column' ? this.sensors.get(outcome.column) : undefined;
  }

  truthCell(truth: number): number | string | boolean {
    const { outcome } = this.settings;
    if (outcome.kind === 'event') {
      return EVENT_LABELS[truth]!;
    }
    const sensor = this.outcomeSensor;
    return sensor === undefined ? this.labels.cell(truth) : (this.sensors.cell(sensor, truth) ?? truth);
  }

  *rowsWithOutcome(): IterableIterator<KeptRow> {
    yield* this.kept;
    for (const { unsettled } of this.machines.values()) {
      for (const rows of unsettled) {
        yield* rows;
      }
    }
  }

  facts(now: number): ScheduleFacts {
    return {
      kept: this.kept.size + this.pending.unsettled,
      outcomes: this.counts.outcomes,
      rarer: this.rarer,
      events: this.eventCount,
      now,
    };
  }

  /** Whether rows leave: they wait for the first train set, where one is coming. */
  get isStarted(): boolean {
    const { train, outcome } = this.settings;
    return train.kind === 'never' || outcome.kind === 'none' || this.schedule.trainSets > 0;
  }

  private newCounter(): EventCounter {
    return new EventCounter(this.settings.aheads[0]!, FIRST_EVENTS);
  }

  /** Separate events among the rows kept. */
  private get eventCount(): number | undefined {
    if (this.settings.outcome.kind !== 'event') {
      return undefined;
    }
    const [kept, unsettled] = [this.kept.outcomes, this.pending.unsettledOutcomes];
    const yes = EVENT_LABELS.indexOf('yes');
    const of = (kept.get(yes) ?? 0) + (unsettled.get(yes) ?? 0);
    return this.events.count(of, () => this.rowsWithOutcome(), this.machines.values());
  }

  /** Rows of the rarest outcome; undefined where outcomes are numbers. */
  private get rarer(): number | undefined {
    const { kind } = this.settings.outcome;
    const isNumber =
      kind === 'message' ? this.labels.kind !== 'label' : this.outcomeSensor?.kind === 'number';
    if (kind !== 'event' && isNumber) {
      return undefined;
    }
    const [kept, unsettled] = [this.kept.outcomes, this.pending.unsettledOutcomes];
    const codes = new Set([...kept.keys(), ...unsettled.keys()]);
    const counts = [...codes].map((code) => (kept.get(code) ?? 0) + (unsettled.get(code) ?? 0));
    return counts.length < 2 ? 0 : Math.min(...counts);
  }
}

/** Gaps between readings up to this share of `ahead` count as covered. */
const SILENCE_SHARE = 0.1;

/** What decides where the cells of a reading belong. */
interface Places {
  readonly settings: SeriesSettings;
  readonly sensors: Sensors;
  readonly features: SeriesFeatures;
}

/** A reading of a machine: the numbers of its sensors, each followed by its value. */
export interface PlacedCells {
  time: number;
  cells: readonly number[];
}

/**
 * Stores a reading in its machine: in the tracks, the clock, and what the outcome is derived from.
 *
 * @param flag what becomes of the reading, as the clock has it
 * @returns whether there was a reading at this time before
 */
function placeReading(
  machine: Machine,
  { settings, sensors, features }: Places,
  { time, cells }: PlacedCells,
  flag: number,
): boolean {
  const { outcome, aheads } = settings;
  const silence = SILENCE_SHARE * aheads[0]!;
  const known = time > machine.newest ? 0 : machine.clock.countUntil(time);
  const isSecond = known > 0 && machine.clock.time(known - 1) === time;
  if (!isSecond) {
    machine.clock.put(time, flag);
  }
  if (outcome.kind === 'event') {
    noteSilence(machine, machine.clock, time, silence);
  }
  const column = outcome.kind === 'column' || outcome.kind === 'event' ? outcome.column : undefined;
  const sensor = column === undefined ? undefined : sensors.get(column);
  for (let i = 0; i < cells.length; i += 2) {
    const [index, value] = [cells[i]!, cells[i + 1]!];
    const track = machine.track(index);
    sensors.see(index);
    track.put(time, value);
    if (index !== sensor?.index) {
      continue;
    }
    if (outcome.kind === 'event') {
      noteHit(machine.hits, time, meets(value, sensor, outcome));
      noteSilence(machine, track.line, time, silence);
    } else if (features.hasHistory) {
      machine.putHistory(time, value);
    }
  }
  return isSecond;
}

/** Notes the readings at and before a time that are followed by a gap. */
function noteSilence({ silences }: Machine, line: Timeline, time: number, least: number): void {
  const at = line.countUntil(time) - 1;
  const before = at > 0 ? line.time(at - 1) : time;
  const after = at >= 0 && at + 1 < line.size ? line.time(at + 1) : time;
  if (time - before > least) {
    silences.put(before, 1);
  }
  if (after - time > least) {
    silences.put(time, 1);
  }
}

function noteHit(hits: Timeline, time: number, isMet: boolean): void {
  const count = hits.countUntil(time);
  const isKnown = count > 0 && hits.time(count - 1) === time;
  if (isMet || isKnown) {
    hits.put(time, isMet ? 1 : 0);
  }
}

/**
 * A warning where some readings have a key and others none, such as those from before the key was configured: they make up
 * a machine that nobody meant. Undefined where all have one, or none has.
 */
function keylessNote(keys: Iterable<string | null>): SeriesNote | undefined {
  const all = [...keys];
  const named = all.find((key) => key !== null);
  if (named === undefined || !all.includes(null)) {
    return undefined;
  }
  return {
    kind: 'keys',
    text: `Besides ${show(named)} there are readings without a key. They count as a machine of their own, with rows in each train set. If they are from before the key was set, send msg.reset to forget everything kept so far.`,
  };
}

/**
 * Columns that began as text and by now hold numbers become columns of numbers. What they held stays where it is a number;
 * words are missing. Rows made before keep what they had of other columns, and their outcome where it is a number.
 *
 * @param readings cells that are about to be taken, numbers of sensors, each followed by its value: they are changed as well
 * @returns whether there were any
 */
export function turnToNumbers(state: SeriesState, readings: Iterable<number[]>): boolean {
  const { sensors, settings, features } = state;
  const turned = sensors.turn();
  for (const [text, number] of turned) {
    const values = text.words.map((word) => sensors.readNumber(word) ?? NaN);
    for (const cells of readings) {
      translateCells(cells, text.index, number.index, values);
    }
    for (const machine of state.machines.values()) {
      const before = machine.numbers;
      const { line } = machine.track(text.index);
      const track = new Track(features.longest);
      for (let i = 0; i < line.size; i++) {
        const value = values[line.value(i)]!;
        if (!Number.isNaN(value)) {
          track.put(line.time(i), value);
        }
      }
      machine.tracks[text.index] = undefined;
      machine.tracks[number.index] = track;
      state.pending.forgetBases(machine);
      machine.count();
      state.numbers += machine.numbers - before;
    }
    state.knownAhead.translate(text.index, number.index, values);
    const ahead = settings.knownAhead.indexOf(text.name);
    for (const { row } of [...state.rowsWithOutcome(), ...state.waiting.values()]) {
      features.translateAhead(row, ahead, values);
    }
    if (settings.outcome.kind === 'column' && settings.outcome.column === text.name) {
      state.kept.translate(values);
      for (const machine of state.machines.values()) {
        state.pending.translate(machine, values);
        machine.history.drop(machine.history.size);
      }
    }
  }
  return turned.length > 0;
}

function translateCells(cells: number[], from: number, to: number, values: readonly number[]): void {
  for (let i = cells.length - 2; i >= 0; i -= 2) {
    if (cells[i] === from) {
      const value = values[cells[i + 1]!]!;
      if (Number.isNaN(value)) {
        cells.splice(i, 2);
      } else {
        cells[i] = to;
        cells[i + 1] = value;
      }
    }
  }
}
