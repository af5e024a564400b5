import { Anchor, type AnchorReference, type KeptAnchor } from './creep';
import type { HistoryCell } from './history';
import { isGap, rowOf, type SensorLayout } from './layout';
import type { Change } from './verdict';

/** What people said of a sensor that has moved. */
export interface AnsweredMovement {
  column: string;
  answer: 'real' | 'usual';
}

/** A sensor that has moved slowly, with the id by which people answer. */
interface MovedSensor {
  id: string;
  column: string;
  /** In its unit. */
  by: number;
  since: number;
  isReal: boolean;
}

export interface KeptMovedSensors {
  kept: KeptAnchor;
  layout: SensorLayout;
}

/** The sensors of a machine that creep away from the others, by their columns and with ids. */
export class MovedSensors {
  private constructor(
    private readonly anchor: Anchor,
    private readonly layout: SensorLayout,
    /** Of the machine, in front of the ids. */
    private readonly key: string | undefined,
  ) {}

  /** @param reference of the first fit that has seen two weeks: what creeping is measured by */
  static measuredBy(reference: AnchorReference, layout: SensorLayout, key: string | undefined): MovedSensors {
    return new MovedSensors(Anchor.of(reference), layout, key);
  }

  static restored({ kept, layout }: KeptMovedSensors, key: string | undefined): MovedSensors {
    return new MovedSensors(new Anchor(kept), layout, key);
  }

  /**
   * Takes a row.
   * @param before the time of the row before
   * @returns the sensors to tell of
   */
  take(time: number, before: number, cells: ReadonlyMap<string, HistoryCell>): Change[] {
    const { anchor, layout } = this;
    const { values, context } = rowOf(layout, time, (column) => cells.get(column));
    return anchor.take(values, context, time, isGap(layout, before, time)).map(({ sensor, by, since }) => {
      const column = layout.sensors[sensor];
      return { kind: 'moved', id: this.idOf(column, since), column, by, since, time };
    });
  }

  /** Those that were told and have not come back. */
  get movements(): MovedSensor[] {
    return this.anchor.movements.map(({ sensor, ...movement }) => {
      const column = this.layout.sensors[sensor];
      return { id: this.idOf(column, movement.since), column, ...movement };
    });
  }

  /** The sensor with this id, and when it was told; without one, the one that was told last. */
  toldLast(id: string | undefined): { at: number; column: string } | undefined {
    return this.anchor.told
      .map(({ sensor, since, at }) => ({ at, since, column: this.layout.sensors[sensor] }))
      .filter(({ column, since }) => id === undefined || id === this.idOf(column, since))
      .sort((a, b) => a.at - b.at)
      .at(-1);
  }

  answer({ column, answer }: AnsweredMovement): void {
    const sensor = this.layout.sensors.indexOf(column);
    if (sensor >= 0) {
      this.anchor.answer(sensor, answer);
    }
  }

  keep(): KeptMovedSensors {
    return { kept: this.anchor.keep(), layout: this.layout };
  }

  /** As long as a sensor stays away, it is one movement. */
  private idOf(column: string, since: number): string {
    return [...(this.key === undefined ? [] : [this.key]), new Date(since).toISOString(), column].join(' ');
  }
}
