import type { FlowNode } from '../../helpers/node-red';
import type { Answer } from '../../helpers/strict-http';
import type { Json } from '../contract-node-red';

/** Messages for a node with these settings. What is not set is not in the flow. */
export interface Case {
  name: string;
  /** `fit`, `predict`, … */
  node: string;
  settings?: Json;
  /** Nodes that the first output of the one before is wired to, as kind and settings. */
  then?: [kind: string, settings: Json][];
  give: Json[];
  /** Each message is given once the one before has ended. */
  inTurn?: boolean;
  /** Numbers are those of the learner, which may learn otherwise: that they are numbers is recorded. */
  learned?: boolean;
  /** What is sent for it is recorded too. */
  sent?: boolean;
  /** How the service answers the next request to such a path. */
  refused?: [path: RegExp, answer: Answer][];
}

/** Values of messages that JSON has no form for: see codec.js. */
export const buffer = (text: string): Json => ({ $text: text });
export const date = (text: string): Json => ({ $date: text });
export const arrow = (columns: Record<string, unknown[]>): Json => ({ $arrow: columns });
export const arrowFile = (columns: Record<string, unknown[]>): Json => ({ $ipc: columns });

export interface TrainRow extends Json {
  id: number;
  x: number;
  colour: string | null;
  label: string;
  amount: number;
}

/** A small train set. Each `series` of it has ids of its own, so no two are the same table. */
export function trainRows(series: number, count = 8): TrainRow[] {
  return Array.from({ length: count }, (_, i) => ({
    id: 100 * series + i,
    x: (i * 7) % 5,
    colour: i === 3 ? null : ['red', 'green', 'blue'][i % 3]!,
    label: i % 2 === 0 ? 'no' : 'yes',
    amount: 10.5 + i,
  }));
}

/** Rows to predict. The played service answers by their `id`. */
export const ROWS = [
  { id: 1, x: 2, colour: 'red' },
  { id: 2, x: 0, colour: null },
  { id: 5, x: 4, colour: 'violet' },
];

export function columnsOf(rows: readonly Json[]): Record<string, unknown[]> {
  return Object.fromEntries(Object.keys(rows[0]!).map((name) => [name, rows.map((row) => row[name])]));
}

export function matrixOf(rows: readonly Json[]): unknown[][] {
  return [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))];
}

export function csvOf(rows: readonly Json[], separator = ','): string {
  return `${matrixOf(rows)
    .map((cells) =>
      cells.map((cell) => (cell === null ? '' : JSON.stringify(cell).replace(/^"|"$/g, ''))).join(separator),
    )
    .join('\n')}\n`;
}

/** Every form that a table in a message may have. */
export function formsOf(rows: readonly Json[]): Record<string, unknown> {
  return {
    objects: rows,
    'one object': rows[0],
    columns: columnsOf(rows),
    matrix: matrixOf(rows),
    'CSV text': csvOf(rows),
    'CSV with semicolons': csvOf(rows, ';'),
    'CSV in a Buffer': buffer(csvOf(rows, '\t')),
    'JSON text': JSON.stringify(rows),
    'JSON in a Buffer': buffer(JSON.stringify(columnsOf(rows))),
    'an Arrow table': arrow(columnsOf(rows)),
    'an Arrow file in a Buffer': arrowFile(columnsOf(rows)),
  };
}

/** The nodes of a case. */
export function nodesOf({ name, node, settings, then = [] }: Case): FlowNode[] {
  const chain: [string, Json][] = [[node, settings ?? {}], ...then];
  const idOf = (at: number): string => (at === 0 ? name : `${name} / ${chain[at]![0]} ${at}`);
  return chain.map(([kind, properties], at) => ({
    id: idOf(at),
    type: `tabular-${kind}`,
    ...(kind !== 'series' && { config: 'cloud' }),
    ...properties,
    wires: at + 1 < chain.length ? [[idOf(at + 1)]] : [],
  }));
}
