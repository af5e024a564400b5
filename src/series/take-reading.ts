import { show } from '../table/cells/types';
import { Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { Journal } from './journal';
import { ALWAYS } from './known-ahead';
import {
  CAME_LATE,
  type KeptRow,
  type Machine,
  type PastReading,
  ROW_LEFT,
  type ROW_STAYED,
} from './machine';
import type { PastRows } from './past';
import { type PlacedCells, type SeriesState, turnToNumbers } from './state';
import {
  AHEAD_OF_US,
  countNear,
  isFuture,
  noTime,
  ofKey,
  type TimeAndKey,
  timeInstead,
} from './time-and-key';
import { FIRST_EVENTS, makeTrainSet, targetName } from './train-sets';
import type {
  BroughtOutcome,
  PushOptions,
  SeriesOutcome,
  SeriesReading,
  SeriesRow,
  SeriesSettings,
  SeriesStep,
  SeriesTrainSet,
  TrainReason,
} from './types';

/** The parts of a series, as everything that takes input needs them. */
export interface SeriesParts {
  readonly settings: SeriesSettings;
  readonly state: SeriesState;
  readonly timeAndKey: TimeAndKey;
  readonly journal: Journal;
  readonly builder: StepBuilder;
  readonly plans: PlanIntake;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Takes one live reading, or one row of a plan.
 *
 * @param options `arrival` is used where the reading has no time, or one in the future
 * @throws ServiceError time.invalid, columns.missing, limit.exceeded
 */
export async function takeReading(
  parts: SeriesParts,
  reading: SeriesReading,
  options: PushOptions & { arrival: number },
): Promise<SeriesStep> {
  const { settings, state, timeAndKey, journal, builder, plans, now } = parts;
  const { arrival } = options;
  const column = options.time === undefined ? timeAndKey.timeColumn(reading) : settings.time;
  const skips = timeAndKey.skips(column);
  const told = timeAndKey.readTime(reading, column, options, undefined);
  const part = told === undefined ? undefined : plans.readPlanPart(reading, skips);
  if (told !== undefined && part !== undefined) {
    const key = timeAndKey.readKey(reading, options, undefined, true);
    const isOfAll = part === 'only' && key === null && settings.key !== undefined;
    if (isOfAll || isYetToCome(told, arrival, state.findNewest(key), state.machines.get(key))) {
      state.checkKeys(isOfAll || key === null ? [] : [key]);
      const cells: number[] = [];
      state.sensors.read(reading, (name) => skips(name) || plans.skips(name), undefined, cells);
      plans.take([{ key, time: told, cells }]);
      return { rows: [], outcomes: [] };
    }
  }
  const key = timeAndKey.readKey(reading, options, undefined, false);
  // Checked before its columns are registered, since those stay for good.
  state.checkKeys([key]);
  const known = state.machines.get(key);
  if (told === undefined && needsTime(state, known, column !== undefined)) {
    throw noTime(column, undefined);
  }
  const cells: number[] = [];
  const missing = state.sensors.read(reading, skips, undefined, cells);
  const isAhead = told !== undefined && isFuture(told, arrival, known);
  const instead = isAhead ? timeInstead(arrival, known) : arrival;
  state.checkRoom(cells.length / 2, key, isAhead ? instead : (told ?? arrival));
  const machine = state.machine(key);
  if (turnToNumbers(state, [cells])) {
    journal.outdate();
  }
  const time =
    told === undefined
      ? machine.timeOfArrival(arrival, state.isTimed)
      : isAhead
        ? machine.firstFree(instead)
        : told;
  if (told === undefined && time > arrival + AHEAD_OF_US) {
    state.tellOnce(
      {
        kind: 'clock',
        text: `The clock of this computer was set back: it is ${new Date(arrival).toISOString()}, and there are readings${ofKey(key)} of ${new Date(machine.newest).toISOString()}. Readings without a time go on from there until the clock has caught up. If it was wrong before, reset the key.`,
      },
      `clock ${key}`,
    );
  }
  state.counts.readings++;
  state.counts.cellsMissing += missing;
  if (told !== undefined && !isAhead) {
    state.isTimed = true;
    machine.delay = arrival - told;
  }
  if (isAhead) {
    state.counts.future++;
    state.tellOnce(
      {
        kind: 'future',
        text: `A reading${ofKey(key)} is dated ${new Date(told).toISOString()}, which is in the future. The time of its arrival is used instead, as for others like it: set the clock of the machine.${plans.hint}`,
      },
      `future ${key}`,
    );
  }
  if (time < state.pending.watermark(machine)) {
    state.counts.late++;
    state.tellOnce(
      {
        kind: 'late',
        text: `A reading${ofKey(key)} of ${new Date(time).toISOString()} arrived after one of ${new Date(machine.newest).toISOString()} and is left out, as are others that arrive so late. Set Late to the longest delay, or reset the key if its clock was set back.`,
      },
      `late ${key}`,
    );
    return { rows: [], outcomes: [] };
  }
  const { isRow, released } = await acceptReading(parts, machine, { time, cells });
  const reason = state.schedule.due(state.facts(now()));
  const trainSet = reason === undefined ? undefined : builder.trainSet(reason);
  const rows = isRow && state.isStarted ? builder.liveRows(machine, time) : [];
  const outcomes = released.map((row) => builder.makeOutcome(row));
  return { rows, outcomes, ...(trainSet !== undefined && { trainSet }) };
}

/**
 * Whether a reading without a time is an error: its column of the time is empty where other readings have one, or the
 * clock of its machine is not ours, so that the time of its arrival would make all others late.
 */
export function needsTime(state: SeriesState, machine: Machine | undefined, hasColumn: boolean): boolean {
  return (hasColumn && state.isTimed) || Math.abs(machine?.delay ?? NaN) > countNear(machine);
}

/** What comes of a reading. */
interface Accepted {
  isRow: boolean;
  /** Rows that left before, with the outcome that it completes. */
  released: KeptRow[];
}

/** Stores a reading. @param flag what becomes of its row, if it arrived in order */
export async function acceptReading(
  parts: SeriesParts,
  machine: Machine,
  reading: PlacedCells,
  flag: typeof ROW_LEFT | typeof ROW_STAYED = ROW_LEFT,
): Promise<Accepted> {
  const { state, journal, settings } = parts;
  const { time, cells } = reading;
  const became = time > machine.newest ? flag : CAME_LATE;
  const isNewest = state.put(machine, reading, became);
  journal.reading(machine.key, time, became, cells);
  if (!isNewest) {
    state.pending.revise(machine, time);
  }
  const released = isNewest ? await releaseOutcomes(parts, machine) : [];
  const isRow = isNewest && state.pending.isRow(machine, machine.clock.size - 1);
  if (isRow && settings.outcome.kind === 'message') {
    wait(parts, machine, time, flag === ROW_LEFT);
  }
  state.tidy(machine);
  return { isRow, released };
}

async function releaseOutcomes({ state }: SeriesParts, machine: Machine): Promise<KeptRow[]> {
  const left: KeptRow[] = [];
  const yielder = new Yielder();
  for (const released of state.pending.release(machine)) {
    state.counts.outcomes++;
    if (released.left !== undefined) {
      left.push(released.left);
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  state.pending.settle(machine);
  return left;
}

/** Lets the row of a reading wait for an outcome that a message brings. */
function wait(
  { state, settings, journal }: SeriesParts,
  machine: Machine,
  time: number,
  hasLeft: boolean,
): void {
  const { features, pending, waiting } = state;
  const ahead = settings.aheads[0]!;
  const row = features.row(machine, pending.base(machine, time), time, ahead);
  const one = { key: machine.key, time, ahead, row, truth: NaN, hasLeft };
  waiting.add(state.address(machine.key, time, ahead).id, one);
  journal.waiting(one);
}

/** Builds what leaves a series: rows, outcomes and train sets. */
export class StepBuilder {
  private readonly target: string;

  constructor(
    private readonly state: SeriesState,
    private readonly now: () => number,
  ) {
    this.target = targetName(state.settings);
  }

  /** The rows of a live reading, one per ahead: a plan should have covered them. */
  liveRows(machine: Machine, time: number): SeriesRow[] {
    const { state } = this;
    const { features } = state;
    const base = state.pending.base(machine, time);
    const rows = state.rowAheads.map((ahead) => {
      const row = features.row(machine, base, time, ahead);
      const unknown = features.unknownAhead(row);
      if (unknown !== undefined) {
        state.counts.unknownAhead++;
        this.tellUnknown(unknown, time + ahead);
      }
      return { series: state.address(machine.key, time, ahead), row: features.cells(row, machine.key) };
    });
    state.counts.rows += rows.length;
    return rows;
  }

  /** Adds the rows of a past reading, one per ahead. */
  addPastRows(past: PastRows, machine: Machine, time: number): void {
    const { features, pending, rowAheads, counts } = this.state;
    const base = pending.base(machine, time);
    const rows = rowAheads.map((ahead) => features.row(machine, base, time, ahead));
    past.add(machine.key, time, base, rows);
    counts.rows += rows.length;
  }

  private tellUnknown(column: string, then: number): void {
    this.state.tellOnce(
      {
        kind: 'unknown ahead',
        text: `No plan says what "${column}" will be at ${new Date(then).toISOString()}, for which a row was made: it is missing there, and may be in other rows. Send it in advance: a reading with that time, or a table of them, with columns known ahead only.`,
      },
      `unknown ahead ${column}`,
    );
  }

  /** A row with its target. */
  makeOutcome({ key, time, ahead, row, truth }: KeptRow): SeriesOutcome {
    const { state } = this;
    const cell = state.truthCell(truth);
    const cells = state.features.cells(row, key, this.target);
    cells[this.target] = cell;
    return { series: state.address(key, time, ahead), row: cells, truth: cell };
  }

  /** All rows with an outcome; undefined where there is none. Restarts the schedule. */
  trainSet(reason: TrainReason): SeriesTrainSet | undefined {
    const { state } = this;
    const sensor = state.outcomeSensor;
    const trainSet = makeTrainSet(state.rowsWithOutcome(), reason, {
      settings: state.settings,
      features: state.features,
      level: sensor?.kind === 'number' ? sensor : undefined,
      truthCell: (truth) => state.truthCell(truth),
    });
    if (trainSet !== undefined) {
      const facts = state.facts(this.now());
      state.schedule.went(facts);
      if ((facts.events ?? FIRST_EVENTS) < FIRST_EVENTS) {
        state.tellOnce(
          {
            kind: 'few events',
            text: `The train set has only ${facts.events} ${facts.events === 1 ? 'event' : 'events'}. With fewer than ${FIRST_EVENTS} a model is scored on rows of an event that it has learned from, so its scores cannot be trusted. Send readings with more events, or wait for them.`,
          },
          'few events',
        );
      }
    }
    return trainSet;
  }
}

/** What a reading has of a plan. */
type PlanPart = 'only' | 'among';

/** Takes what is known ahead: plans, and the values in those columns of a table of the past. */
export class PlanIntake {
  private readonly names: ReadonlySet<string>;
  private readonly outcome: string | undefined;

  constructor(
    private readonly state: SeriesState,
    private readonly journal: Journal,
  ) {
    const { knownAhead, outcome } = state.settings;
    this.names = new Set(knownAhead);
    this.outcome = 'column' in outcome ? outcome.column : undefined;
  }

  /**
   * What a reading has of a plan: `only` columns known ahead, or them `among` others. Undefined where it has none of them,
   * or the outcome's column: what is to be predicted is not known ahead.
   */
  readPlanPart(reading: SeriesReading, skip: (name: string) => boolean): PlanPart | undefined {
    if (this.names.size === 0) {
      return undefined;
    }
    let [known, others] = [0, 0];
    for (const [name, cell] of Object.entries(reading)) {
      if (skip(name) || !isSaid(cell)) {
        continue;
      }
      if (name === this.outcome) {
        return undefined;
      }
      if (this.names.has(name)) {
        known++;
      } else {
        others++;
      }
    }
    return known === 0 ? undefined : others === 0 ? 'only' : 'among';
  }

  /** Which columns of a plan are not read: all but those known ahead. */
  skips(name: string): boolean {
    return !this.names.has(name);
  }

  /** Advice for readings in the future that were meant as a plan; empty where nothing is known ahead. */
  get hint(): string {
    const names = [...this.names].map((name) => `"${name}"`).join(', ');
    return names === '' ? '' : ` A plan has a value of ${names} and none of "${this.outcome}".`;
  }

  /** Checks that there is room for a plan. @throws ServiceError limit.exceeded */
  checkRoom(plan: readonly PastReading[]): void {
    this.state.knownAhead.checkRoom(plan.reduce((sum, { cells }) => sum + cells.length / 2, 0));
  }

  /** Takes a plan: it is known to rows after the newest reading. @throws ServiceError limit.exceeded */
  take(plan: readonly PastReading[]): void {
    const { state } = this;
    this.checkRoom(plan);
    const since = new Map(
      [...new Set(plan.map(({ key }) => key))].map((key) => [key, state.findNewest(key)]),
    );
    for (const row of plan) {
      this.put(row, since.get(row.key)!);
      state.counts.planned++;
    }
  }

  /** Takes the plan rows of a table, and the values that its readings have in columns known ahead. */
  takeOfTable(readings: readonly PastReading[], plan: readonly PastReading[]): void {
    if (this.names.size > 0) {
      readings.forEach((row) => this.put(row, ALWAYS));
    }
    plan.forEach((row) => this.put(row, ALWAYS));
    this.state.counts.planned += plan.length;
  }

  private put({ key, time, cells }: PastReading, since: number): void {
    const { sensors, knownAhead } = this.state;
    for (let i = 0; i < cells.length; i += 2) {
      if (this.names.has(sensors.list[cells[i]!]!.name)) {
        const told = { time, since, value: cells[i + 1]! };
        knownAhead.put(key, cells[i]!, told);
        this.journal.planned(key, cells[i]!, told);
      }
    }
  }
}

/**
 * Whether a time lies in the future: by our clock, or by that of the readings where they are of another time, such as in a
 * simulation.
 *
 * @param newest time of the newest reading, -Infinity where there is none
 */
export function isYetToCome(
  time: number,
  arrival: number,
  newest: number,
  machine: Machine | undefined,
): boolean {
  const isOfNow = newest === -Infinity || Math.abs(arrival - newest) <= countNear(machine);
  return time > (isOfNow ? arrival + AHEAD_OF_US : newest);
}

/** Whether a cell holds anything. */
export function isSaid(cell: unknown): boolean {
  return cell !== null && cell !== undefined && cell !== '';
}

/**
 * Joins an outcome that a message brings with the row that waits for it.
 *
 * @throws ServiceError validation.failed, outcome.unknown, time.invalid, limit.exceeded
 */
export function takeOutcome(
  { settings, state, timeAndKey, journal, builder, now }: SeriesParts,
  { id, key, time, value }: BroughtOutcome,
): SeriesStep {
  if (settings.outcome.kind !== 'message') {
    throw new ServiceError(
      'validation.failed',
      'The outcomes of this series come from its readings. Set Outcome to a message to bring them.',
    );
  }
  const { labels, waiting } = state;
  if (!labels.accepts(value)) {
    throw new ServiceError(
      'validation.failed',
      `The outcome ${show(value)} cannot be used. Give ${labels.expected}.`,
    );
  }
  const rowId = id ?? waiting.idAt(key ?? null, timeAndKey.instant(time));
  if (rowId === undefined || waiting.get(rowId) === undefined) {
    const which = id === undefined ? `${ofKey(key ?? null)} at ${show(time)}` : ` with the id ${show(id)}`;
    throw new ServiceError(
      'outcome.unknown',
      `No row${which} is waiting for an outcome: there was none, it has its outcome already, or it is no longer among the newest ${settings.keep}. Give the msg.series.id of the row, or its key and time.`,
    );
  }
  // Only now: an outcome without a row must not decide whether outcomes are numbers or labels.
  const truth = labels.findCode(value);
  const { hasLeft, ...row } = waiting.take(rowId)!;
  const released = { ...row, truth };
  state.kept.add(released);
  journal.kept(released);
  state.counts.outcomes++;
  const reason = state.schedule.due(state.facts(now()));
  const trainSet = reason === undefined ? undefined : builder.trainSet(reason);
  const outcomes = hasLeft ? [builder.makeOutcome(released)] : [];
  return { rows: [], outcomes, ...(trainSet !== undefined && { trainSet }) };
}
