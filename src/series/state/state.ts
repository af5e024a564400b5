import { show } from '../../table';
import { ServiceError } from '../../wire/service-error';
import type { KeptRow } from '../kept-row';
import { EventCounter } from '../outcomes/events';
import { RowsWithOutcome } from '../outcomes/kept-rows';
import { Labels } from '../outcomes/labels';
import { EVENT_LABELS } from '../outcomes/outcome';
import { Ripening } from '../outcomes/ripening';
import { WaitingRows } from '../outcomes/waiting-rows';
import { Machine } from '../readings/machine';
import { type Sensor, Sensors } from '../readings/sensors';
import { SeriesFeatures } from '../rows/features';
import { KnownAhead } from '../rows/known-ahead';
import { showDuration } from '../settings/durations';
import { FIRST_EVENTS, Schedule, type ScheduleFacts } from '../train-sets/schedule';
import type { RowAddress, SeriesNote, SeriesSettings } from '../types';
import { keylessNote } from './keyless';
import { placeReading } from './place-reading';

/** What one series may hold: keys, and numbers of readings. */
export const MAX_KEYS = 1000;
export const MAX_NUMBERS = 5_000_000;

/** Told of what is to be on disk. */
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

/** All that a series knows: machines with their readings, rows with their outcomes, what was told. */
export class SeriesState {
  readonly sensors: Sensors;
  readonly features: SeriesFeatures;
  readonly machines = new Map<string | null, Machine>();
  readonly knownAhead = new KnownAhead();
  readonly kept: RowsWithOutcome;
  readonly waiting: WaitingRows;
  readonly labels = new Labels();
  readonly ripening: Ripening;
  readonly schedule: Schedule;
  readonly counts = { ...NO_COUNTS };
  /** Numbers that the machines hold. */
  numbers = 0;
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
          text: `Rows have so many columns that only ${rows} of them are kept for train sets. Send fewer sensors, or name fewer windows.`,
        },
        'rows dropped',
      ),
    );
    this.waiting = new WaitingRows(settings.keep);
    this.schedule = new Schedule(settings.train);
    this.events = this.newCounter();
    this.ripening = new Ripening(settings, this.sensors, this.features, this.kept, (row) =>
      recorder.kept(row),
    );
  }

  /** @param once what is told once: the same text, unless said otherwise */
  tellOnce(note: SeriesNote, once = note.text): void {
    if (!this.told.has(once)) {
      this.told.add(once);
      this.notify(note);
    }
  }

  /** A machine, made where it is new. @throws ServiceError limit.exceeded */
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

  /** Whether there may be machines with these keys, each named once. @throws ServiceError limit.exceeded */
  checkKeys(keys: Iterable<string | null>): void {
    let count = this.machines.size;
    for (const key of keys) {
      if (!this.machines.has(key) && ++count > MAX_KEYS) {
        throw new ServiceError(
          'limit.exceeded',
          `${show(key)} would be one more than the ${MAX_KEYS} keys that a series may have. Use a key with fewer values, split the machines over several series, or forget some by a reset with their key.`,
        );
      }
    }
  }

  /**
   * Whether a reading with so many numbers may come: where there is no room, it may if as many are forgotten for it.
   *
   * @throws ServiceError limit.exceeded
   */
  checkRoom(numbers: number, key: string | null, time: number): void {
    if (this.numbers + numbers <= MAX_NUMBERS) {
      return;
    }
    const machine = this.machines.get(key);
    const settled = machine === undefined ? NaN : this.ripening.settledUntil(machine) + time - machine.newest;
    if (!((machine?.forgettable(settled) ?? 0) > numbers)) {
      throw new ServiceError(
        'limit.exceeded',
        `The readings that ${this.machines.size} machines need for their windows are more than ${MAX_NUMBERS} numbers. Send readings less often or with fewer columns, or name shorter windows: the longest is ${showDuration(this.features.longest)}.`,
      );
    }
  }

  /**
   * Puts a reading in its place.
   *
   * @param flag 1 where it gives a row as it comes
   * @returns whether it is the newest of its machine
   */
  put(machine: Machine, time: number, cells: readonly number[], flag: number): boolean {
    const before = machine.numbers;
    const isNewest = time > machine.newest;
    if (placeReading(machine, this, time, cells, flag)) {
      this.counts.duplicates++;
    }
    machine.numbers += cells.length / 2 + 1;
    this.numbers += machine.numbers - before;
    return isNewest;
  }

  /** Forgets what no row sees any more, where it is time for that, or there is no more room. */
  tidy(machine: Machine): void {
    if (machine.isTidyDue || this.numbers > MAX_NUMBERS) {
      const before = machine.numbers;
      machine.tidy(this.ripening.settledUntil(machine));
      this.knownAhead.forgetPast(machine);
      this.numbers += machine.numbers - before;
    }
  }

  /** Forgets a machine, and those of its rows of which this is true. */
  forget(machine: Machine, isDropped: (row: KeptRow) => boolean): void {
    this.numbers -= machine.numbers;
    this.events = this.newCounter();
    this.ripening.forget(machine);
    this.machines.delete(machine.key);
    this.kept.dropWhere((row) => row.key === machine.key && isDropped(row));
    this.waiting.dropWhere((row) => row.key === machine.key && isDropped(row));
  }

  /** Forgets all of one key: its readings, rows and plan, and what was said of it. */
  forgetKey(key: string | null): void {
    const machine = this.machines.get(key);
    if (machine !== undefined) {
      this.forget(machine, () => true);
    }
    this.knownAhead.forget(key);
    for (const kind of ['future', 'late']) {
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
    return this.ripening.isFromReadings ? aheads : aheads.slice(0, 1);
  }

  /** Time of the newest reading of a machine; where there is none of it, of all. */
  newestOf(key: string | null): number {
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

  /** The column whose value later is the outcome. */
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
      kept: this.kept.size + this.ripening.unsettled,
      outcomes: this.counts.outcomes,
      rarer: this.rarer,
      events: this.eventCount,
      now,
    };
  }

  /** Rows leave before the first train set only where none is waited for. */
  get isStarted(): boolean {
    const { train, outcome } = this.settings;
    return train.kind === 'never' || outcome.kind === 'none' || this.schedule.trainSets > 0;
  }

  private newCounter(): EventCounter {
    return new EventCounter(this.settings.aheads[0]!, FIRST_EVENTS);
  }

  /** Events among the rows kept. */
  private get eventCount(): number | undefined {
    if (this.settings.outcome.kind !== 'event') {
      return undefined;
    }
    const [kept, unsettled] = [this.kept.outcomes, this.ripening.unsettledOutcomes];
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
    const [kept, unsettled] = [this.kept.outcomes, this.ripening.unsettledOutcomes];
    const codes = new Set([...kept.keys(), ...unsettled.keys()]);
    const counts = [...codes].map((code) => (kept.get(code) ?? 0) + (unsettled.get(code) ?? 0));
    return counts.length < 2 ? 0 : Math.min(...counts);
  }
}
