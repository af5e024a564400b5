import { CAME_LATE, type Machine } from './machine';

export interface PastReading {
  key: string | null;
  time: number;
  /** [sensor, number, sensor, number …] */
  cells: number[];
  /** What became of it, where it was taken before. */
  flag?: number;
}

/** The readings that a machine still holds, to be replayed together with those of a table. */
export function heldReadings(machine: Machine): PastReading[] {
  const { clock, key } = machine;
  const held: PastReading[] = [];
  const byTime = new Map<number, PastReading>();
  for (let i = 0; i < clock.size; i++) {
    const reading = { key, time: clock.time(i), cells: [], flag: clock.value(i) };
    held.push(reading);
    byTime.set(reading.time, reading);
  }
  machine.tracks.forEach((track, sensor) => {
    for (let i = 0; i < (track?.line.size ?? 0); i++) {
      const time = track!.line.time(i);
      let reading = byTime.get(time);
      if (reading === undefined) {
        reading = { key, time, cells: [], flag: CAME_LATE };
        held.push(reading);
        byTime.set(time, reading);
      }
      reading.cells.push(sensor, track!.line.value(i));
    }
  });
  return held;
}
