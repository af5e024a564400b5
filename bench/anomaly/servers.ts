/*
 * npm run bench -- servers <folder> [names…]: faults of nine kinds in the readings of real machines, such as the
 * application servers of ASD (docs/benchmarks/anomaly.md says where they are fetched).
 *
 * The folder has a file `NAME.train.csv` for each, of rows without a fault, five minutes apart. Two thirds of them teach;
 * the faults, of 150 rows each, come into the rest. The level of every method is set where the rest, as it is, has one
 * episode in 2,016 rows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { seededRandom } from '../../test/doors/util';
import type { Machine } from '../../test/helpers/simulated-machine';
import { addFaults, type FaultsFound, printFaults } from './faults';
import { isolationForest, nearest, principalComponents } from './peers';
import { byRow, ours, taught } from './scored';

const TAUGHT_SHARE = 2 / 3;
const FAULT_ROWS = 150;
const ALARM_ROWS = 2016;
/** Faults of each kind in each machine. */
const TIMES = 8;
const SEED = 11;

function readMachine(file: string): Machine {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/);
  const columns = head!.split(',');
  const places = [...columns.keys()].filter((place) => columns[place] !== 'time');
  const values = lines.map((line) => {
    const cells = line.split(',');
    return Float64Array.from(places, (place) => Number(cells[place]));
  });
  return { names: places.map((place) => columns[place]!), values, modes: [] };
}

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined) {
  throw new Error('Usage: npm run bench -- servers <folder> [names…]');
}
const files = readdirSync(folder).filter((name) => name.endsWith('.train.csv'));
const found: FaultsFound = new Map();
for (const name of files.filter((one) => names.length === 0 || names.includes(one.split('.')[0]!)).sort()) {
  const machine = readMachine(path.join(folder, name));
  const learned = Math.floor(machine.values.length * TAUGHT_SHARE);
  const train = machine.values.slice(0, learned);
  const methods = {
    'anomaly node': ours(taught(machine, learned).learned),
    'isolation forest': byRow(isolationForest(train, seededRandom(SEED))),
    'nearest rows': byRow(nearest(train)),
    'T² and Q': byRow(principalComponents(train)),
  };
  addFaults(found, machine, methods, { learned, fault: FAULT_ROWS, alarm: ALARM_ROWS }, TIMES, SEED);
}
printFaults(found);
