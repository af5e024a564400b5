import { Track } from '../readings/track';
import type { SeriesState } from './state';

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
    const values = text.words.map((word) => sensors.numberOf(word) ?? NaN);
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
