import { Serial, Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import { LearnThread } from './learn-thread';
import type { Episode } from './method/alarms';
import type { Detector } from './method/detector';
import type { MarkedRows } from './method/history';
import type { Change } from './method/verdict';
import { checkCells, type MachineColumns, ReadingReader } from './reading';
import {
  inOrder,
  type JoinedRow,
  type KeptRowsUnderWay,
  RowsUnderWay,
  type TaughtRows,
  taughtTable,
} from './rows';
import { AnomalyStore, type Entry } from './store';
import { TimedDetector } from './timed-detector';
import {
  type AnomalyAnswer,
  type AnomalyChange,
  type AnomalyOptions,
  type AnomalyProgress,
  type AnomalyReading,
  type AnomalySurroundings,
  checkOptions,
  LEARN_ROWS,
  type ReadingPlace,
  WEEKS,
} from './types';

/** Knows what is usual for each of many machines, and says what is not. One reading after the other. */
export class Anomalies {
  private readonly machines = new Map<string | null, TimedDetector>();
  private readonly reader: ReadingReader;
  private readonly waiting: RowsUnderWay;
  private readonly fits = new LearnThread();
  private readonly serial = new Serial();
  private readonly yielder = new Yielder();
  private readonly store: AnomalyStore;
  private readonly perWeek: number;
  private readonly learn: number;
  private readonly ignored: ReadonlySet<string>;
  private readonly columns: MachineColumns = new Map();
  private toldNothingVaries = false;
  private readings = 0;
  private late = 0;
  private closed = false;
  private readonly takenBy = (of: string | null): number => this.machines.get(of)?.taken ?? 0;

  protected constructor(
    options: AnomalyOptions,
    private readonly around: AnomalySurroundings,
  ) {
    const { key, time, ignore = [], alarms = 1, per = 'week', learn = LEARN_ROWS, timezone } = options;
    checkOptions(alarms, per, learn);
    this.ignored = new Set([...ignore, ...[key, time].filter((name) => name !== undefined)]);
    this.reader = new ReadingReader({ key, time, timezone }, this.ignored);
    this.perWeek = alarms / WEEKS[per];
    this.learn = learn;
    this.waiting = new RowsUnderWay(options.every);
    this.store = new AnomalyStore(around.folder, (kind, text) => around.notify?.({ kind, text }), {
      names: () => this.machines.keys(),
      whole: (of) => this.machines.get(of)?.keep(),
      waitingRows: (isClosed) => this.waiting.keep(this.takenBy, isClosed),
    });
  }

  /** @throws ServiceError `config.invalid`; `storage.failed` where what was kept cannot be read now */
  static open(options: AnomalyOptions = {}, around: AnomalySurroundings = {}): Promise<Anomalies> {
    return new Anomalies(options, around).opened();
  }

  /** Itself, once what was kept is read. @throws ServiceError as `open` */
  protected async opened(): Promise<this> {
    const rows = await this.store.read(
      ({ of, detector }) => this.machines.set(of, new TimedDetector(this.settings(of), detector)),
      (entry) => this.replay(entry),
    );
    await this.goOn(rows);
    const yielder = new Yielder();
    for (const [of, machine] of this.machines) {
      this.columns.set(of, machine.columns);
      this.fitIfDue(of, machine);
      await yielder.due();
    }
    return this;
  }

  /**
   * Takes one reading as it came. One with a single column waits for the others of its round, and is answered as part of
   * their row.
   * @returns what is told of the rows that are whole by it: none, one or two
   * @throws ServiceError as `take`
   */
  async takePart(reading: AnomalyReading, place?: ReadingPlace): Promise<AnomalyAnswer[]> {
    let rows = [reading];
    if (Object.keys(reading).length === 1) {
      rows = this.waiting.gathered.add(place?.key, reading);
      this.store.rowsChanged();
    }
    const answers: AnomalyAnswer[] = [];
    for (const row of rows) {
      answers.push(...(await this.takeJoined(row, place)));
    }
    return answers;
  }

  /** Takes one reading; with a span for each row, it waits for those that come within it. @throws ServiceError as `take` */
  protected async takeJoined(reading: AnomalyReading, place?: ReadingPlace): Promise<AnomalyAnswer[]> {
    const { joined } = this.waiting;
    if (joined === undefined) {
      return [await this.take(reading, place)];
    }
    const { key, time: told, cells } = this.reader.read(reading, place);
    checkCells(key, cells, this.columns);
    const machine = this.findOrBegin(key);
    // On a machine with a clock of its own, a reading without a time is of the row that waits.
    const waiting = machine.hasOwnClock ? joined.newest(key) : undefined;
    const time = machine.settleTime(told ?? waiting, Date.now());
    // It must not end the row that waits, which would then come in pieces.
    if (joined.isPast(key, time)) {
      return [await this.take(reading, place)];
    }
    const row = joined.add(key, time, cells);
    this.store.rowsChanged();
    if (row === undefined) {
      return [];
    }
    checkCells(key, row.cells, this.columns);
    return [await this.serial.run(() => this.takeRow(key, row))];
  }

  /**
   * Takes one reading, and says how unusual it is.
   * @throws ServiceError `time.invalid`, `columns.missing`, `limit.exceeded`, `validation.failed`
   */
  take(reading: AnomalyReading, place?: ReadingPlace): Promise<AnomalyAnswer> {
    return this.serial.run(() => {
      const { key, time, cells } = this.reader.read(reading, place);
      checkCells(key, cells, this.columns);
      return this.takeRow(key, { time: this.findOrBegin(key).settleTime(time, Date.now()), cells });
    });
  }

  /**
   * Takes a table of past readings, in any order of its machines: nothing is said of them.
   * @throws ServiceError as `take`
   */
  teach(
    rows: AsyncIterable<{ reading: AnomalyReading; place?: ReadingPlace }>,
    signal?: AbortSignal,
  ): Promise<{ rows: number; keys: number }> {
    return this.serial.run(async () => {
      const yielder = new Yielder();
      const taught = await taughtTable(rows, this.reader, {
        columns: this.columns,
        joined: this.waiting.joined?.again(),
        yielder,
        signal,
      });
      const { count, machines } = taught;
      const keys = machines.size;
      let left = 0;
      for (const [key, kept] of machines) {
        this.columns.set(key, taught.columns.get(key)!);
        // What is taught takes its memory twice, one machine at a time.
        machines.delete(key);
        left += await this.teachRows(key, kept, yielder);
      }
      this.readings += count;
      if (left > 0) {
        this.late += left;
        this.around.notify?.({
          kind: 'late',
          text: `${left} rows of the table are not newer than what is known of their machine, and are left out.`,
        });
      }
      return { rows: count, keys };
    });
  }

  /**
   * What people say of an alarm or of a sensor that has moved: that it was real, or that this is usual now.
   * @param id left out: what was told last, of `key` where it is given
   * @throws ServiceError `outcome.unknown` where there is no such alarm or sensor
   */
  confirm(answer: 'real' | 'usual', id?: string, key?: string): Promise<void> {
    return this.serial.run(async () => {
      const found = this.told(id, key);
      if (found === undefined) {
        throw new ServiceError(
          'outcome.unknown',
          id === undefined
            ? 'msg.confirm answers an alarm or a sensor that has moved, and there has been none yet.'
            : `No alarm of the last four weeks and no sensor that has moved has the id "${id}": set msg.anomaly.id to that of an alarm or a movement, or leave it out for the last one.`,
        );
      }
      const { of, machine } = found;
      const answered = machine.confirm(id, answer)!;
      if ('moved' in answered) {
        this.store.append({ of, taken: machine.taken, moved: answered.moved });
        await this.store.flush();
        return;
      }
      this.appendEpisode(of, machine, answered.episode);
      await this.keepAnswer(of, machine, [answered.marked]);
      this.fitIfDue(of, machine);
    });
  }

  /** What people say of the odd periods of the history. @throws ServiceError `outcome.unknown` where nothing was asked */
  odd(answer: 'usual' | 'faults', key?: string): Promise<void> {
    return this.serial.run(async () => {
      let asked = false;
      for (const [of, machine] of this.machines) {
        const marked = key === undefined || of === key ? machine.answerOdd(answer) : undefined;
        if (marked !== undefined) {
          asked = true;
          await this.keepAnswer(of, machine, marked);
          this.fitIfDue(of, machine);
        }
      }
      if (!asked) {
        throw new ServiceError(
          'outcome.unknown',
          'msg.odd answers a question about the history, and none is open: it is asked after the first fit, and after answers that odd periods were faults.',
        );
      }
    });
  }

  /** Forgets all, or one machine. */
  reset(key?: string): Promise<void> {
    this.waiting.clear(key);
    return this.serial.run(async () => {
      for (const [of, machine] of [...this.machines]) {
        if (key === undefined || of === key) {
          await this.store.forget(of, machine.taken);
          this.machines.set(of, new TimedDetector(this.settings(of), undefined, machine.taken));
          this.columns.delete(of);
        }
      }
    });
  }

  /** Whether the disk has not answered for long. */
  get waitsForDisk(): boolean {
    return this.store.isSlow;
  }

  get progress(): AnomalyProgress {
    const machines = [...this.machines.values()];
    return {
      keys: machines.length,
      readings: this.readings,
      known: machines.filter(({ isKnowing }) => isKnowing).length,
      unlearnable: machines.filter(({ isUnlearnable }) => isUnlearnable).length,
      rows: machines.length === 0 ? 0 : Math.min(...machines.map(({ rows }) => rows)),
      needed: this.learn,
      late: this.late,
      storage: this.around.folder === undefined ? 'none' : this.store.isFailing ? 'failed' : 'ok',
    };
  }

  /** The machines with what is known of each. */
  get known(): ReadonlyMap<string | null, Detector> {
    return this.machines;
  }

  /** Resolves once no fit is due or under way. */
  async settled(): Promise<void> {
    await this.fits.settled();
    await this.serial.idle();
  }

  /** Writes what is not on disk yet. */
  async close(): Promise<void> {
    this.closed = true;
    await this.fits.close();
    await this.serial.run(() => this.store.close());
  }

  /** Goes on with rows that were not whole. Where each reading is a row now, they are whole. */
  private async goOn(kept: KeptRowsUnderWay | undefined): Promise<void> {
    for (const { of, time, cells } of this.waiting.restore(kept, this.takenBy)) {
      const machine = this.findOrBegin(of);
      if (machine.teach(time, cells)) {
        this.keepRow(of, machine, time);
      }
    }
    if (kept?.isClosed === true) {
      // It is open again: after a kill they count as older than what came.
      await this.store.writeRows();
    }
  }

  private settings(of: string | null): ConstructorParameters<typeof TimedDetector>[0] {
    return { perWeek: this.perWeek, learn: this.learn, key: of ?? undefined, ignored: this.ignored };
  }

  /** Teaches a machine by rows of the past. One that has learned nothing so far takes its own rows after older ones. */
  private async teachRows(of: string | null, taught: TaughtRows, yielder: Yielder): Promise<number> {
    let machine = this.findOrBegin(of);
    let rows = taught.inOrder();
    const { pace } = taught;
    if (machine.rows > 0 && !machine.isKnowing && rows[0]!.time < machine.oldest) {
      rows = inOrder([...rows, ...machine.allRows]);
      await this.store.forget(of, machine.taken);
      machine = new TimedDetector(this.settings(of), undefined, machine.taken);
      this.machines.set(of, machine);
    }
    let left = 0;
    machine.slowDown(pace);
    for (const { time, cells } of rows) {
      if (machine.teach(time, cells())) {
        this.keepRow(of, machine, time);
      } else {
        left++;
      }
      await yielder.due();
    }
    if (left < rows.length) {
      machine.learnAnew();
      this.fitIfDue(of, machine);
    }
    return left;
  }

  private async takeRow(key: string | null, { time, cells }: JoinedRow): Promise<AnomalyAnswer> {
    const due = this.yielder.due();
    if (due !== undefined) {
      await due;
    }
    this.readings++;
    // A reset may have come between.
    const machine = this.findOrBegin(key);
    const verdict = machine.take(time, cells);
    if (verdict.state === 'late') {
      this.late++;
      return { ...verdict, key, time };
    }
    this.keepRow(key, machine, time);
    this.tellStopped(key, machine);
    await this.keepEpisodes(key, machine, verdict.changes);
    this.fitIfDue(key, machine);
    return { ...verdict, key, time };
  }

  private findOrBegin(of: string | null): TimedDetector {
    const machine = this.machines.get(of) ?? new TimedDetector(this.settings(of));
    this.machines.set(of, machine);
    return machine;
  }

  /** The machine that told what people answer. */
  private told(
    id: string | undefined,
    key: string | undefined,
  ): { of: string | null; machine: TimedDetector } | undefined {
    let newest: { of: string | null; machine: TimedDetector; at: number } | undefined;
    for (const [of, machine] of this.machines) {
      const last = key === undefined || of === key ? machine.toldLast(id) : undefined;
      if (last !== undefined && last.at > (newest?.at ?? -Infinity)) {
        newest = { of, machine, at: last.at };
      }
    }
    return newest;
  }

  /** A reading that became no row is part of the next one. */
  private keepRow(of: string | null, { taken, newRow }: Detector, time: number): void {
    if (newRow !== undefined) {
      this.store.append({ of, taken, row: [time, Object.fromEntries(newRow)] });
    }
  }

  /** An alarm is on disk before it is told: after kill -9 it is not sent again. */
  private async keepEpisodes(
    of: string | null,
    machine: TimedDetector,
    changes: readonly Change[],
  ): Promise<void> {
    for (const episode of machine.touched) {
      this.appendEpisode(of, machine, episode);
    }
    if (changes.some(({ kind }) => kind === 'alarm' || kind === 'over')) {
      await this.store.flush();
    }
  }

  private appendEpisode(of: string | null, machine: TimedDetector, episode: Episode): void {
    this.store.append({ of, taken: machine.taken, episode, isOpen: machine.episode === episode });
  }

  private keepAnswer(
    of: string | null,
    machine: TimedDetector,
    marked: readonly MarkedRows[],
  ): Promise<void> {
    for (const one of marked) {
      this.store.append({ of, taken: machine.taken, marked: one });
    }
    return this.store.flush();
  }

  private replay(entry: Entry): void {
    const { of, taken } = entry;
    const machine = this.findOrBegin(of);
    if ('row' in entry) {
      const [time, cells] = entry.row;
      if (taken === machine.taken + 1) {
        machine.replay(time, new Map(Object.entries(cells)));
      } else if (taken > machine.taken) {
        // Rows before it are lost, with a file or a line that was damaged: what was learned stays.
        const begun = new TimedDetector(this.settings(of), machine.withoutRows(taken - 1), taken - 1);
        begun.replay(time, new Map(Object.entries(cells)));
        this.machines.set(of, begun);
      }
    } else if (taken < machine.taken) {
      return;
    } else if ('episode' in entry) {
      machine.replayEpisode(entry.episode, entry.isOpen);
    } else if ('marked' in entry) {
      machine.replayMark(entry.marked);
    } else if ('moved' in entry) {
      machine.answerMovement(entry.moved);
    } else {
      this.machines.set(of, new TimedDetector(this.settings(of), undefined, taken));
    }
  }

  private fitIfDue(of: string | null, machine: TimedDetector): void {
    if (this.closed || !machine.claim()) {
      return;
    }
    void this.fits
      .fit(() => (this.machines.get(of) === machine ? machine.task() : undefined))
      .then((learned) =>
        this.serial.run(async () => {
          if (this.machines.get(of) !== machine) {
            return;
          }
          if (learned === undefined) {
            machine.failed();
            if (machine.isUnlearnable) {
              this.tellNothingVaries(of);
            }
            return;
          }
          for (const change of machine.learned(learned)) {
            this.around.onChange?.({ ...change, key: of } satisfies AnomalyChange);
          }
          // Those that are gone are forgotten.
          this.columns.set(of, machine.columns);
          await this.store.writeWhole(of);
        }),
      )
      .catch((error: unknown) => {
        machine.failed();
        if (!this.closed) {
          this.around.notify?.({ kind: 'learn', text: (error as Error).message });
        }
      });
  }

  private tellStopped(of: string | null, { stopped }: Detector): void {
    for (const { column, rows } of stopped) {
      this.around.notify?.({
        kind: 'missing',
        text: `${of === null ? '' : `"${of}": `}the sensor "${column}" has not come for ${rows} readings. The others are judged without it. Look at the sensor, or name it under Ignore.`,
      });
    }
  }

  private tellNothingVaries(of: string | null): void {
    if (!this.toldNothingVaries && !this.closed) {
      this.toldNothingVaries = true;
      const whose = of === null ? 'The readings' : `The readings of "${of}"`;
      this.around.notify?.({
        kind: 'learn',
        text: `${whose} have no column of numbers that varies: nothing can be learned from them. Look at Ignore, and at what the messages hold.`,
      });
    }
  }
}
