import { AlarmPromise, type Episode } from './alarms';
import { RowsAround } from './around';
import { ANCHOR_MS, type AnsweredMovement, MovedSensors } from './creep';
import type { Learned, LearnTask } from './fit';
import {
  History,
  type HistoryCell,
  type HistoryRow,
  MachineClock,
  type MarkedRows,
  type RowPace,
  thinned,
  thinnedRow,
} from './history';
import { MissingSensors, NewValues, type SensorLayout, sensorLayout } from './layout';
import { type KeptDetector, type Knowledge, NextFit, OddHistory, RETRY_ROWS } from './learning';
import { computeRarity } from './tail';
import { ALONE } from './usual';
import {
  type Change,
  expectedOfMissing,
  type OffRow,
  type RecentRows,
  RowScorer,
  type RowVerdict,
  sensorInFront,
} from './verdict';

/** Rows without a fault that a fit needs. */
const LEAST_ROWS = 100;

export interface DetectorSettings {
  /** Promised alarms a week. */
  perWeek: number;
  /** Rows before the first verdict. */
  learn: number;
  /** In front of the ids of its alarms. */
  key: string | undefined;
  /** Columns that are no sensors. */
  ignored: ReadonlySet<string>;
}

/** Knows what is usual for one machine. Pure: fits are made elsewhere, between `due` and `learned`. */
export class Detector {
  private history: History;
  private readonly alarms: AlarmPromise;
  private readonly clock: MachineClock;
  private readonly missing = new MissingSensors();
  private knowledge: Knowledge | undefined;
  private scorer: RowScorer | undefined;
  private moved: MovedSensors | undefined;
  private readonly odd: OddHistory;
  private newest: RowVerdict['state'] | undefined;
  /** The sensors that were off in the newest row. */
  private off: string[] = [];
  /** The episodes that the last row has changed. */
  touched: readonly Episode[] = [];
  /** The sensors that have stopped coming, to be told with the last row, and for how many rows. */
  stopped: readonly { column: string; rows: number }[] = [];
  /** The row that the last reading became, with what came since the one before; undefined where it is none. */
  newRow: ReadonlyMap<string, HistoryCell> | undefined;
  private readonly nextFit: NextFit;
  private readonly newValues = new NewValues();
  private fitting: { times: Float64Array } | undefined;
  private readonly around: RowsAround;

  constructor(
    private readonly settings: DetectorSettings,
    kept?: KeptDetector,
    begun = kept?.history.begun ?? 0,
  ) {
    this.history = new History(begun, kept?.history);
    this.alarms = new AlarmPromise(settings.perWeek, kept?.alarms);
    this.clock = new MachineClock(kept);
    this.odd = new OddHistory(kept);
    this.nextFit = new NextFit(settings.learn);
    this.around = new RowsAround(this.alarms, kept?.aroundEpisode);
    if (kept?.anchor !== undefined) {
      this.moved = MovedSensors.restored(kept.anchor, settings.key);
    }
    if (kept?.knowledge !== undefined) {
      this.know(kept.knowledge);
      const { layout, usual } = kept.knowledge;
      const isIgnored = layout.sensors.some((column) => settings.ignored.has(column));
      // A version before called other rows as rare.
      if (usual.alone !== ALONE || isIgnored || kept.aroundEpisode !== undefined) {
        this.nextFit.want();
      }
    }
  }

  /** What it knows, without the rows that it was learned from: they are lost. */
  withoutRows(begun: number): KeptDetector {
    return { ...this.keep(), history: this.history.none(begun), odd: undefined };
  }

  get rows(): number {
    return this.history.taken - this.history.begun;
  }

  /** The number of the next row. */
  get taken(): number {
    return this.history.taken;
  }

  /** Milliseconds of readings so far. */
  get knows(): number {
    return this.clock.knows;
  }

  /** Whether it has readings enough, and nothing could be learned from them. */
  get isUnlearnable(): boolean {
    return this.nextFit.isRetry && this.knowledge === undefined;
  }

  /** Whether it has learned what is usual. */
  get isKnowing(): boolean {
    return this.knowledge !== undefined;
  }

  /** The columns of the rows that are kept, and whether they have numbers. */
  get columns(): ReadonlyMap<string, boolean> {
    return this.history.kinds;
  }

  /** Takes a row of a past table: nothing is said of it. @returns whether it was newer than those before */
  teach(time: number, cells: ReadonlyMap<string, HistoryCell>): boolean {
    const isNewer = time > this.history.lastTime;
    this.newRow = undefined;
    if (isNewer) {
      this.offer(time, cells);
    }
    return isNewer;
  }

  /** Takes the pace of rows that are taught, where its own is quicker. */
  slowDown(pace: RowPace | undefined): void {
    if (pace !== undefined && pace.every > (this.history.pace?.every ?? 0)) {
      this.history.pace = pace;
    }
  }

  /** The time of the oldest row that is kept. */
  get oldest(): number {
    return this.history.time(this.history.first);
  }

  /** The rows that are kept, the oldest first. */
  get allRows(): HistoryRow[] {
    return this.history.rows;
  }

  /** The next fit is due at once: the history has become longer at one stroke. */
  learnAnew(): void {
    this.nextFit.want();
  }

  /** Takes a row that was taken before a restart: only what it leaves behind counts. */
  replay(time: number, cells: ReadonlyMap<string, HistoryCell>): void {
    this.clock.take(time);
    this.history.push(time, cells);
    this.movedBy(time, cells);
  }

  /** Takes an episode as it was before a restart. */
  replayEpisode(episode: Episode, isOpen: boolean): void {
    this.alarms.restore(episode, isOpen);
    this.leaveOut(episode);
  }

  /** Takes what was said of rows before a restart. */
  replayMark({ from, to, mark, isOddAnswered }: MarkedRows): void {
    this.history.mark(from, to, mark);
    if (isOddAnswered === true) {
      this.odd.answered(mark === 0 ? 'usual' : 'faults');
      if (mark !== 0) {
        this.nextFit.want();
      }
      return;
    }
    this.nextFit.want();
    this.moved = mark === 0 ? undefined : this.moved;
    this.around.answered(mark === 2 ? this.alarms.sent.findLast((one) => one.from === from) : undefined);
  }

  /** Takes what people say, or said before a restart, of a sensor that has moved. */
  answerMovement(answered: AnsweredMovement): void {
    this.moved?.answer(answered);
  }

  /** Takes a row, and says how unusual it is. */
  take(time: number, cells: ReadonlyMap<string, HistoryCell>): RowVerdict {
    this.touched = [];
    this.stopped = [];
    const { history } = this;
    this.newRow = undefined;
    if (this.clock.isLate(time, history.length > 0 ? this.clock.latest : undefined)) {
      return this.verdict('late');
    }
    const row = this.offer(time, cells);
    this.stopped = this.newRow === undefined ? [] : this.missing.take(this.newRow);
    const { knowledge, scorer } = this;
    if (knowledge === undefined || scorer === undefined) {
      return this.verdict('learning');
    }
    const moved = this.newRow === undefined ? [] : this.movedBy(time, this.newRow);
    const found = this.newValues.take(knowledge.layout, cells, row !== undefined);
    if (found !== undefined) {
      const { column, value, isToTell } = found;
      const change = { kind: 'new_state', column, value, time } as const;
      return { ...this.verdict('new'), changes: [...moved, ...(isToTell ? [change] : [])] };
    }
    const { level } = this.alarms;
    const off = row === undefined ? scorer.peek(time, cells, level) : scorer.take(row, level);
    return this.judged(knowledge, off, { time, row: row ?? history.taken }, moved);
  }

  /** Whether a fit is to be made now. It counts as under way until `learned` or `failed`. */
  claim(): boolean {
    const { knowledge, history, rows } = this;
    const isUrgent = this.newValues.rows >= RETRY_ROWS || history.thinning > 1;
    const isAlarmed = this.alarms.current?.id !== undefined;
    return this.nextFit.claim(knowledge, rows, Math.max(0, history.lastTime), { isUrgent, isAlarmed });
  }

  /**
   * What is to be learned from, once it has its turn; undefined where no column of numbers varies, or where nearly all rows
   * are of faults: then it keeps what it knows.
   */
  task(): LearnTask | undefined {
    const kept = this.history.keep();
    const { thinning: thinnedBy, taken } = this.history;
    const history = thinnedBy === 1 ? kept : thinned(kept, thinnedBy, taken);
    const { marks } = history;
    if (marks.filter((mark) => mark === 0).length < LEAST_ROWS) {
      return undefined;
    }
    const { layout, gone } = sensorLayout(history, this.settings.ignored);
    gone.forEach((name) => this.history.forget(name));
    if (layout.sensors.length === 0) {
      return undefined;
    }
    this.nextFit.begun();
    this.newValues.rows = 0;
    const first = taken - history.times.length;
    this.fitting = { times: history.times.slice() };
    const judgedFrom = thinnedBy === 1 ? this.around.judgedFrom(marks, first, LEAST_ROWS) : undefined;
    const withAnchor = (this.moved === undefined || thinnedBy > 1) && this.hasSeenTwoWeeks(layout);
    return { history, layout, first, taken, thinnedBy, withAnchor, judgedFrom };
  }

  /** Nothing was learned: it is tried again after some more rows. */
  failed(): void {
    this.nextFit.failed(this.rows);
  }

  /** Takes what a fit has learned. */
  learned(learned: Learned): Change[] {
    const { usual, layout, rarities, odd, anchor, first, taken, thinnedBy } = learned;
    this.nextFit.ended();
    this.newValues.learned();
    const fault = this.around.learned(learned, (row) => this.history.time(row));
    if (fault !== undefined) {
      this.history.mark(fault.from, fault.to, 2);
    }
    if (learned.judged !== undefined && fault?.isUnderWay !== true) {
      // It was made without rows that are usual.
      this.nextFit.want();
      return [];
    }
    if (thinnedBy > 1) {
      this.thin(thinnedBy, taken);
    }
    this.know({ layout, usual, rows: taken - this.history.begun, time: this.history.lastTime });
    this.alarms.recall(first, this.fitting?.times ?? new Float64Array(0), rarities);
    if (this.hasSeenTwoWeeks(layout)) {
      this.alarms.measureAnew(first, rarities);
    }
    this.fitting = undefined;
    if (anchor !== undefined) {
      this.moved = MovedSensors.measuredBy(anchor, layout, this.settings.key);
    }
    const rows = taken - this.history.begun;
    const changes: Change[] = this.nextFit.isToTell(rows)
      ? [{ kind: 'learned', rows, knows: this.knows }]
      : [];
    if (this.odd.found(odd, first, taken - first, this.history.first)) {
      changes.push({ kind: 'odd_history', periods: this.question });
    }
    return changes;
  }

  /** The alarm or the sensor that has moved with this id, and when it was told; without one, what was told last. */
  toldLast(
    id: string | undefined,
  ): { at: number; episode: Episode } | { at: number; column: string } | undefined {
    const episode = this.alarms.find(id);
    const moved = this.moved?.toldLast(id);
    const alarmed = episode?.told ?? episode?.start ?? -Infinity;
    if (moved !== undefined && moved.at >= alarmed) {
      return moved;
    }
    return episode && { at: alarmed, episode };
  }

  /**
   * What people say of an alarm or of a sensor that has moved: without an id, of what was told last.
   *
   * @returns the episode and what was marked by it, or the sensor; undefined where there is no such
   */
  confirm(
    id: string | undefined,
    answer: 'real' | 'usual',
  ): { episode: Episode; marked: MarkedRows } | { moved: AnsweredMovement } | undefined {
    const told = this.toldLast(id);
    if (told === undefined) {
      return undefined;
    }
    if ('column' in told) {
      const moved = { column: told.column, answer };
      this.answerMovement(moved);
      return { moved };
    }
    const { episode } = told;
    this.alarms.answer(episode, answer, this.off);
    const marked = { from: episode.from, to: episode.last, mark: answer === 'real' ? 2 : 0 } as const;
    this.history.mark(marked.from, marked.to, marked.mark);
    this.around.answered(answer === 'real' ? episode : undefined);
    if (answer === 'usual') {
      // What people call usual now is also what creeping is measured by.
      this.moved = undefined;
    }
    this.nextFit.want();
    return { episode, marked };
  }

  /**
   * What people say of the odd periods of the history.
   *
   * @returns what was marked by it; undefined where nothing was asked
   */
  answerOdd(answer: 'usual' | 'faults'): MarkedRows[] | undefined {
    const odd = this.odd.answered(answer);
    if (odd !== undefined && answer === 'faults') {
      this.nextFit.want();
    }
    const mark = answer === 'faults' ? 2 : 0;
    return odd?.map(({ from, to }) => {
      this.history.mark(from, to, mark);
      return { from, to, mark, isOddAnswered: true };
    });
  }

  /** The periods that people are asked about. */
  get question(): { start: number; end: number }[] {
    const { history } = this;
    return this.odd
      .asked(history.first)
      .map(({ from, to }) => ({ start: history.time(from), end: history.time(to) }));
  }

  /** What was said of the newest row; undefined before the first one, and after a restart. */
  get state(): RowVerdict['state'] | undefined {
    return this.newest;
  }

  /** The time of the newest reading that was taken; undefined before the first one. */
  get newestTime(): number | undefined {
    return this.clock.latest;
  }

  /** The newest rows beside what was expected of them; undefined before anything is known. */
  get recent(): RecentRows | undefined {
    this.scorer?.warmUp(this.history.taken, this.alarms.level);
    return this.scorer?.recent;
  }

  /** The sensors that have moved slowly, as far as they were told and have not come back. */
  get movements(): MovedSensors['movements'] {
    return this.moved?.movements ?? [];
  }

  /** The episode under way. */
  get episode(): Episode | undefined {
    return this.alarms.current;
  }

  /** Episodes that sent an alarm, the newest last. */
  get episodes(): Episode[] {
    return this.alarms.sent;
  }

  keep(): KeptDetector {
    return {
      history: this.history.keep(),
      alarms: this.alarms.keep(),
      ...this.clock.keep(),
      ...(this.knowledge !== undefined && { knowledge: this.knowledge }),
      ...(this.moved !== undefined && { anchor: this.moved.keep() }),
      ...this.odd.keep(),
      ...this.around.keep(),
    };
  }

  /** Rows before `end` are fewer from now on, and readings become rows at that pace. */
  private thin(by: number, end: number): void {
    this.history = this.history.fewer(by, end);
    const newNumber = (row: number): number => thinnedRow(row, by, end);
    this.alarms.renumber(newNumber);
    this.odd.renumber(newNumber);
    this.around.renumber(newNumber);
    // What creeping is measured by was of another pace.
    this.moved = undefined;
  }

  private offer(time: number, cells: ReadonlyMap<string, HistoryCell>): number | undefined {
    this.clock.take(time);
    const row = this.history.offer(time, cells);
    this.newRow = row === undefined ? undefined : this.history.cells(row);
    return row;
  }

  /** The newest row lasts a step as well: two weeks of readings are two weeks. */
  private hasSeenTwoWeeks({ step }: SensorLayout): boolean {
    return this.knows + step >= ANCHOR_MS;
  }

  private know(knowledge: Knowledge): void {
    const { layout, usual, rows } = knowledge;
    this.scorer = new RowScorer(layout, usual, this.history, this.scorer?.recent);
    this.knowledge = knowledge;
    this.alarms.learned(usual.total, layout.step, rows);
    this.missing.learned(layout.sensors, this.history);
  }

  private movedBy(time: number, cells: ReadonlyMap<string, HistoryCell>): Change[] {
    const { history } = this;
    const before = history.length > 1 ? history.time(history.taken - 2) : time;
    return this.moved?.take(time, before, cells) ?? [];
  }

  private judged(
    { layout, usual }: Knowledge,
    { values, scored, sensors }: OffRow,
    { time, row }: { time: number; row: number },
    moved: Change[],
  ): RowVerdict {
    const { rarity } = scored;
    const onceIn = layout.step * 10 ** computeRarity(usual.total, rarity);
    const front = sensorInFront(layout, scored);
    this.off = [front, ...sensors.map(({ column }) => column)];
    const { alarm, over, touched, isCalledUsual } = this.alarms.take(
      { row, time, rarity, front, off: sensors },
      ({ start }) => [this.settings.key ?? [], new Date(start).toISOString()].flat().join(' '),
    );
    // Before the episode is over: a fit may come meanwhile.
    this.touched = touched;
    for (const episode of touched) {
      this.leaveOut(episode);
    }
    const said = { sensors, onceIn, knows: this.knows };
    const changes = [
      ...(over === undefined
        ? []
        : [{ kind: 'over', id: over.id!, start: over.start, end: over.end } as const]),
      ...(alarm === undefined ? [] : [{ kind: 'alarm', id: alarm.id!, ...said, time } as const]),
      ...moved,
    ];
    if (alarm !== undefined) {
      alarm.said = said;
      alarm.told = time;
    }
    return {
      ...this.verdict(rarity > this.alarms.level && isCalledUsual !== true ? 'unusual' : 'usual'),
      alarm: this.alarms.current?.id,
      onceIn,
      sensors,
      expected: expectedOfMissing(usual, layout, values, scored),
      changes,
    };
  }

  /** Rows of an alarm stay out of the next fit, until people say that they are usual. */
  private leaveOut({ from, last, id, partOf, answer }: Episode): void {
    if (answer !== 'usual' && (id ?? partOf) !== undefined) {
      this.history.mark(from, last, answer === 'real' ? 2 : 1);
    }
  }

  private verdict(state: RowVerdict['state']): RowVerdict {
    const { rows, knows } = this;
    this.newest = state;
    return { state, rows, needed: this.settings.learn, knows, sensors: [], expected: {}, changes: [] };
  }
}
