import type { Series, SeriesNote, SeriesProgress } from '../../series';
import { Serial } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { forgetColumns, type KeptShown, type LastReading } from '../input/columns-seen';
import { seriesLayer } from '../lazy';
import type { NodeRuntime } from '../node-runtime';
import { OwnedPath, seriesFolder } from '../paths';
import { type Progress, type Shown, type StatusKind, type StatusLine } from '../status/status-line';
import type { ReadMessages, SeriesDef } from './read-messages';
import { isUnchosen, keptAs, seriesOptions, type Told } from './request';

/** How readings are read, as far as messages may say it. */
const READ_SO = ['missing_words', 'unreadable', 'timezone'] as const;

/** The state of one series node: opened with the first message that needs it, written at close. */
export class SeriesKeeper {
  private opened: Series | undefined;
  private openedBy = '';
  private readonly owned: OwnedPath;
  private readonly told: Told = {};
  private readonly serial = new Serial();
  private closed = false;
  private unchosen: boolean | undefined;

  constructor(private readonly runtime: NodeRuntime<SeriesDef>) {
    this.owned = new OwnedPath(runtime);
  }

  /** Whether nobody has chosen yet what is to be predicted. */
  get isUnchosen(): boolean {
    return (this.unchosen ??= isUnchosen(this.runtime));
  }

  /** Where the state is kept. @throws ServiceError `config.invalid` */
  folder(): string {
    return seriesFolder(this.runtime.red, keptAs(this.runtime));
  }

  /**
   * The series, opened with the settings that the dialog and the messages so far give.
   * @throws ServiceError `config.invalid`, `validation.failed`, `storage.failed`, `closed`
   */
  open(msg: Readonly<Record<string, unknown>> = {}): Promise<Series> {
    return this.serial.run(() => this.openAs(msg));
  }

  private async openAs(msg: Readonly<Record<string, unknown>>): Promise<Series> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before its readings were open.');
    }
    const told = READ_SO.filter((name) => msg[name] !== undefined);
    // A stream of readings says nothing of them.
    if (this.opened !== undefined && told.length === 0) {
      return this.opened;
    }
    for (const name of told) {
      this.told[name] = msg[name];
    }
    const options = seriesOptions(this.runtime, this.told);
    const key = JSON.stringify(options);
    if (this.opened !== undefined && key === this.openedBy) {
      return this.opened;
    }
    const settings = seriesLayer().parseSeriesSettings(options);
    const folder = this.folder();
    await this.owned.takeNamed(folder, 'its readings');
    await this.opened?.close();
    this.opened = undefined;
    this.opened = await seriesLayer().openSeries(settings, {
      folder,
      notify: (note) => this.tell(note),
    });
    this.openedBy = key;
    return this.opened;
  }

  private tell({ kind, text: said }: SeriesNote): void {
    this.runtime.node.warn(said);
    const { opened } = this;
    if (opened !== undefined && (kind === 'storage.failed' || kind === 'storage.ok')) {
      // The disk fills, and has room again, between two messages.
      this.runtime.status.become(() => seriesStatus(opened.progress, this.isUnchosen));
    }
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.owned.full(underWay, this.opened?.waitsForDisk);
  }

  async close(removed = false): Promise<void> {
    this.closed = true;
    await this.owned.letGo(() => this.serial.run(() => this.opened?.close()));
    if (removed) {
      forgetColumns(this.runtime.id);
    }
  }
}

/** Outcomes of the rarer class that the first train set takes. */
const RARER_NEEDED = 20;
/** Events that it takes. */
const EVENTS_NEEDED = 3;

/** What a series node shows of what it kept. */
export function keptSeries({ progress }: Series, isUnchosen: boolean): KeptShown {
  return { status: seriesStatus(progress, isUnchosen), columns: progress.columns };
}

/**
 * What a series node shows: how far the first train set is, then what it keeps; before all, that nothing is kept.
 * @param isUnchosen whether nobody has chosen yet what is to be predicted
 */
function seriesStatus(progress: SeriesProgress, isUnchosen: boolean): Shown & { kind: StatusKind } {
  const { keys, readings, rows, needed, late, future, duplicates: repeated } = progress;
  const { planned, unknownAhead } = progress;
  const ahead = planned + unknownAhead > 0 ? { planned, unknown_ahead: unknownAhead } : {};
  const counted = { keys, readings, late, future, repeated, ...ahead };
  if (progress.storage === 'failed') {
    const shown: Progress = { phase: progress.started ? 'live' : 'collecting', rows, ...counted };
    return { kind: 'doubtful', key: 'series.notOnDisk', progress: shown };
  }
  if (!progress.started && needed > 0) {
    const { key: text, have, total } = waitedFor(progress);
    if (progress.unseenOutcome !== undefined && readings > 0) {
      const shown: Progress = { phase: 'collecting', rows: have, total_rows: total, ...counted };
      return { kind: 'doubtful', key: 'series.unseenOutcome', progress: shown };
    }
    const percent = Math.min(100, Math.floor((100 * have) / total));
    const shown: Progress = { phase: 'collecting', rows: have, total_rows: total, percent, ...counted };
    return { kind: 'waiting', key: text, values: { rows: have, total }, progress: shown };
  }
  const shown: Progress = { phase: 'live', rows, ...counted };
  if (isUnchosen) {
    return { kind: 'waiting', key: 'series.noColumn', progress: shown };
  }
  if (progress.decayWaits) {
    return { kind: 'ready', key: 'series.decayWaits', values: { rows }, progress: shown };
  }
  return keys > 1
    ? { kind: 'ready', key: 'series.keys', values: { rows, keys }, progress: shown }
    : { kind: 'ready', key: 'series.rows', values: { rows }, progress: shown };
}

/** What the first train set still takes: rows, then events, then rows of the rarer outcome. */
function waitedFor({ kept, needed, rarer = RARER_NEEDED, events = EVENTS_NEEDED }: SeriesProgress): {
  key: string;
  have: number;
  total: number;
} {
  if (kept >= needed && events < EVENTS_NEEDED) {
    return { key: 'series.collectingEvents', have: events, total: EVENTS_NEEDED };
  }
  return kept >= needed && rarer < RARER_NEEDED
    ? { key: 'series.collectingRare', have: rarer, total: RARER_NEEDED }
    : { key: 'series.collecting', have: kept, total: needed };
}

/**
 * Shows the state of a series: it is what the last message left, so an error before it has had its time. As what messages
 * were recognised comes first, while that is news.
 */
export function showSeries(
  status: StatusLine,
  series: Series,
  messages: ReadMessages,
  isUnchosen: boolean,
): void {
  // Asked when the status is shown: most messages of a stream show none.
  status.become(() => {
    const shown = seriesStatus(series.progress, isUnchosen);
    const { news } = messages;
    return news === undefined || shown.kind === 'doubtful' ? shown : { ...shown, ...recognised(news) };
  });
}

/** `as Tasmota: pump1, 9 values`, as far as there is room. */
function recognised({ shape = '', key, values }: LastReading): Pick<Shown, 'key' | 'values' | 'shorter'> {
  const count = Object.keys(values).length;
  const counted = {
    key: count === 1 ? 'series.asValue' : 'series.asValues',
    values: { shape, values: count },
    shorter: { key: 'series.as', values: { shape } },
  };
  return key === undefined
    ? counted
    : {
        key: count === 1 ? 'series.asKeyValue' : 'series.asKey',
        values: { shape, key, values: count },
        shorter: counted,
      };
}
