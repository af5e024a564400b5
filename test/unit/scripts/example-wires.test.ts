import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const folder = path.resolve(__dirname, '..', '..', '..', 'examples');

interface Node {
  id: string;
  type: string;
  name?: string;
  x?: number;
  y?: number;
  wires?: string[][];
}

type Placed = Node & { x: number; y: number };

const HEIGHT = 30;
/** Between two outputs of a node. */
const PORTS = 13;
const ICON = 30;
/** What stands under a node that has one. */
const STATUS = { height: 18, width: 150 };

/** About as wide as the editor draws it: a multiple of its grid of 20, in Helvetica. */
function widthOf({ type, name = '' }: Node): number {
  if (/^link (?:in|out)$/.test(type)) {
    return ICON;
  }
  const label = name === '' ? type : name;
  const wide = label.match(/[\u3000-\u9fff\uff00-\uffef]/g)?.length ?? 0;
  return Math.max(100, 20 * Math.ceil((46 + 6.7 * (label.length - wide) + 14 * wide) / 20));
}

/** Points of a wire to the right, as the editor draws it (`generateLinkPath`). */
function* pointsOf(from: [number, number], to: [number, number]): Generator<[number, number]> {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const reach = 0.75 * Math.min(100, length);
  const [xs, ys] = [
    [from[0], from[0] + reach, to[0] - reach, to[0]],
    [from[1], from[1], to[1], to[1]],
  ];
  const at = ([a, b, c, d]: number[], t: number): number =>
    (1 - t) ** 3 * a! + 3 * (1 - t) ** 2 * t * b! + 3 * (1 - t) * t ** 2 * c! + t ** 3 * d!;
  for (let step = 0; step <= 200; step++) {
    yield [at(xs, step / 200), at(ys, step / 200)];
  }
}

function crossings(nodes: readonly Node[]): Set<string> {
  const placed = nodes.filter(({ x, type }) => x !== undefined && type !== 'group') as Placed[];
  const byId = new Map(placed.map((node) => [node.id, node]));
  const found = new Set<string>();
  for (const from of placed) {
    const outputs = from.wires ?? [];
    for (const [output, ids] of outputs.entries()) {
      for (const to of ids.map((id) => byId.get(id)!)) {
        const start: [number, number] = [
          from.x + widthOf(from) / 2,
          from.y + PORTS * (output - (outputs.length - 1) / 2),
        ];
        const end: [number, number] = [to.x - widthOf(to) / 2, to.y];
        if (end[0] <= start[0]) {
          continue;
        }
        const name = (node: Node): string => `${node.type} "${node.name ?? ''}"`;
        for (const [x, y] of pointsOf(start, end)) {
          for (const other of placed) {
            const [across, down] = [x - other.x, y - other.y];
            const half = widthOf(other) / 2;
            const isThrough = Math.abs(across) < half - 1 && Math.abs(down) < HEIGHT / 2 - 1;
            const isThroughStatus =
              other.type.startsWith('tabular-') &&
              Math.abs(across + half - STATUS.width / 2) < STATUS.width / 2 &&
              Math.abs(down - HEIGHT / 2 - STATUS.height / 2 - 1) < STATUS.height / 2 - 3;
            if (other !== from && other !== to && (isThrough || isThroughStatus)) {
              found.add(`${name(from)} → ${name(to)} through ${name(other)}`);
            }
          }
        }
      }
    }
  }
  return found;
}

describe('The wires of the examples', () => {
  for (const language of ['', 'Deutsch', '日本語']) {
    const files = fs.readdirSync(path.join(folder, language)).filter((name) => name.endsWith('.json'));
    for (const file of files) {
      it(`run through no node and no status: ${path.join(language, file)}`, () => {
        const nodes = JSON.parse(fs.readFileSync(path.join(folder, language, file), 'utf8')) as Node[];
        assert.deepEqual([...crossings(nodes)], []);
      });
    }
  }
});
