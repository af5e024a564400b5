import { standardised } from '../linear/design';
import type { Member, Part } from '../model/members';
import type { Trees } from '../trees/trees';
import { allRows, type Compared, type Conditions, type LeafWalk } from './compared';

/**
 * What is added to one score of mixtures: `value`, to that of the background's rows in `mask` mixed with the row by every
 * coalition that holds the groups `inside` and none `outside`.
 */
export type Contribution = (output: number, value: number, mask: number, conditions: Conditions) => void;

/**
 * Every contribution to the scores of a member's parts that are sums: trees, linear terms and bases. Parts that vote are
 * left out; `voteContributions` has what is added to their votes.
 */
export function contributions(member: Member, compared: Compared, walk: LeafWalk, add: Contribution): void {
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      continue;
    }
    const all = allRows(compared.background);
    part.base.forEach((value, output) => add(output, part.weight * value, all, ALWAYS));
    if (part.kind === 'linear') {
      linearContributions(part, compared, add);
    } else {
      treeContributions(part, part.weight, walk, add);
    }
  }
}

/** Every contribution to the votes of one part. Scores are made of their sum. */
export function voteContributions(part: Part & { kind: 'votes' }, walk: LeafWalk, add: Contribution): void {
  treeContributions(part, 1, walk, add);
}

/** The parts that vote. */
export function votingParts(member: Member): (Part & { kind: 'votes' })[] {
  return member.parts.filter((part) => part.kind === 'votes');
}

function treeContributions(
  { base, trees }: Part & { trees: Trees },
  weight: number,
  walk: LeafWalk,
  add: Contribution,
): void {
  const { width, values } = trees;
  let output = 0;
  const visit =
    width === 1
      ? (from: number, mask: number, conditions: Conditions) =>
          add(output, weight * values[from], mask, conditions)
      : (from: number, mask: number, conditions: Conditions) => {
          for (let k = 0; k < width; k++) {
            add(k, weight * values[from + k], mask, conditions);
          }
        };
  for (let tree = 0; tree < trees.roots.length; tree++) {
    output = tree % base.length;
    walk.tree(trees, tree, visit);
  }
}

const NONE = new Int32Array(0);
const ALWAYS: Conditions = {
  inside: NONE,
  insideCount: 0,
  insideBits: 0,
  outside: NONE,
  outsideCount: 0,
  outsideBits: 0,
};

/** Per column: the background's own term always, and where its group is inside, the difference of the row's. */
function linearContributions(
  { weight, tables }: Part & { kind: 'linear' },
  { bins, numbers, background, groupOf }: Compared,
  add: Contribution,
): void {
  const { base, at, scores, lines } = tables;
  const width = base.length;
  const one = new Int32Array(1);
  const inside: Conditions = { ...ALWAYS, inside: one, insideCount: 1 };
  for (let line = 0; lines && line < lines.columns.length; line++) {
    const column = lines.columns[line];
    const values = background.numbers![column]!;
    const zOf = (value: number) => standardised(value, lines.means[line], lines.scales[line]);
    const own = zOf(numbers[column]);
    one[0] = groupOf[column];
    inside.insideBits = 1 << one[0];
    for (let row = 0; row < background.rows; row++) {
      const z = zOf(values[row]);
      for (let k = 0; k < width; k++) {
        const slope = weight * lines.weights[line * width + k];
        add(k, slope * z, 1 << row, ALWAYS);
        if (z !== own) {
          add(k, slope * (own - z), 1 << row, inside);
        }
      }
    }
  }
  for (let column = 0; column < at.length; column++) {
    if (at[column] < 0) {
      continue;
    }
    const ownCell = at[column] + bins[column] * width;
    one[0] = groupOf[column];
    inside.insideBits = 1 << one[0];
    for (let row = 0; row < background.rows; row++) {
      const cell = at[column] + background.columns[column][row] * width;
      for (let k = 0; k < width; k++) {
        add(k, weight * scores[cell + k], 1 << row, ALWAYS);
        if (cell !== ownCell) {
          add(k, weight * (scores[ownCell + k] - scores[cell + k]), 1 << row, inside);
        }
      }
    }
  }
}
