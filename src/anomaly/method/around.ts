import type { AlarmPromise, Episode } from './alarms';
import type { Learned } from './fit';
import { HOLD_ROWS } from './tail';

/**
 * The rows around an alarm that people called real. A fault that lasts is learned as usual by the fits that come before the
 * answer: the alarm is over, though the fault is not. So the next fit is made without the rows since it may have begun, and
 * tells which of them are of the fault.
 */
export class RowsAround {
  constructor(
    private readonly alarms: AlarmPromise,
    /** The first row of the alarm's episode; undefined where no answer is to be looked into. */
    private episodeFrom: number | undefined,
  ) {}

  /** Takes an answer. @param real the episode that people called real */
  answered(real: Episode | undefined): void {
    const isAlone =
      real === undefined || (real === this.alarms.current && this.mayHaveBegun(real) === real.from);
    this.episodeFrom = isAlone ? undefined : real.from;
  }

  /**
   * The row from which on the next fit does without rows; undefined where it takes all, or where too few were left.
   * @param marks of the train rows; @param first the number of the first of them; @param least rows that a fit needs
   */
  judgedFrom(marks: Uint8Array, first: number, least: number): number | undefined {
    const from = this.episode === undefined ? undefined : this.mayHaveBegun(this.episode);
    const left = marks.subarray(0, Math.max(0, (from ?? first) - first)).filter((mark) => mark === 0).length;
    this.episodeFrom = left < least ? undefined : this.episodeFrom;
    return this.episodeFrom === undefined ? undefined : from;
  }

  /**
   * Takes what a fit says of the rows that it did without.
   * @returns the rows of the fault, and whether it is under way; undefined where there is no such alarm any more
   */
  learned(
    { judged, usual, layout, taken }: Learned,
    timeOf: (row: number) => number,
  ): { from: number; to: number; isUnderWay: boolean } | undefined {
    const { episode } = this;
    this.episodeFrom = undefined;
    if (episode === undefined || judged === undefined) {
      return undefined;
    }
    const { rarities, fronts } = judged;
    const first = taken - rarities.length;
    const level = this.alarms.computeLevels(usual.total, layout.step, taken).episode;
    const said = episode.said?.sensors.map(({ column }) => column) ?? [];
    const sensors = [episode.front, ...(episode.together ?? []), ...said];
    const isOff = (row: number): boolean =>
      rarities[row - first] > level && sensors.includes(layout.sensors[fronts[row - first]]);
    let [from, to] = [episode.from, episode.last];
    for (let row = from - 1; row >= first && from - row <= HOLD_ROWS; row--) {
      from = isOff(row) ? row : from;
    }
    for (let row = to + 1; row < taken && row - to <= HOLD_ROWS; row++) {
      to = isOff(row) ? row : to;
    }
    const isUnderWay = taken - to <= HOLD_ROWS;
    this.alarms.goesOn(episode, { to, time: timeOf(to), isUnderWay });
    return { from, to, isUnderWay };
  }

  /** The rows have other numbers now. */
  renumber(numberOf: (row: number) => number): void {
    this.episodeFrom = this.episodeFrom === undefined ? undefined : numberOf(this.episodeFrom);
  }

  keep(): { aroundEpisode?: number } {
    return this.episodeFrom === undefined ? {} : { aroundEpisode: this.episodeFrom };
  }

  private get episode(): Episode | undefined {
    const { episodeFrom } = this;
    return episodeFrom === undefined
      ? undefined
      : this.alarms.sent.findLast(({ from }) => from === episodeFrom);
  }

  /** The first row of the oldest alarm with the same sensor in front that nobody called usual: the fault may be as old. */
  private mayHaveBegun(episode: Episode): number {
    const same = this.alarms.sent.filter(
      ({ answer, front }) => answer !== 'usual' && front === episode.front,
    );
    return Math.min(episode.from, ...same.map(({ from }) => from));
  }
}
