import { ServiceError } from '../../wire/service-error';
import { nodeChanged } from '../model-changed';
import type { FlowNode, Red } from '../node-red';
import type { AnomalyKeeper } from './keeper';
import { oneOf } from './request';
import { type ListedMachine, listedMachine, type ShownMachine, shownMachine } from './shown-machines';

/** An anomaly node in the list of the sidebar. */
interface ListedNode {
  id: string;
  /** Empty where it has none. */
  name: string;
  machines: ListedMachine[];
}

/** All anomaly nodes that are there. */
const showing = new Map<string, ShownNode>();

/** Enters a node. It leaves as it is closed. */
export function showInSidebar(red: Red, node: FlowNode, keeper: AnomalyKeeper): void {
  const shown = new ShownNode(red, node, keeper);
  showing.set(node.id, shown);
  node.on('close', () => {
    if (showing.get(node.id) === shown) {
      showing.delete(node.id);
    }
  });
}

export function listedNodes(): ListedNode[] {
  return [...showing.values()].map((node) => node.listed);
}

/** @throws ServiceError `not_found` */
export function shownNode(id: string): ShownNode {
  const node = showing.get(id);
  if (node === undefined) {
    throw new ServiceError('not_found', `There is no anomaly node ${id.slice(0, 100)}: deploy it first.`);
  }
  return node;
}

/** An anomaly node, as the sidebar asks it. */
class ShownNode {
  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly keeper: AnomalyKeeper,
  ) {}

  /** Its machines. Of a node that has had no reading since its start, and has kept nothing, none. */
  get listed(): ListedNode {
    const { current } = this.keeper;
    const machines = [...(current?.known ?? [])].map(([key, machine]) =>
      listedMachine(key, machine, current!.progress.needed),
    );
    return { id: this.node.id, name: this.node.name ?? '', machines };
  }

  /**
   * @param key of a machine; left out: where all readings are of one
   * @param columns whose rows are shown first
   * @throws ServiceError `not_found`
   */
  machine(key: string | undefined, columns: readonly string[]): ShownMachine {
    const { current } = this.keeper;
    const of = key ?? null;
    const machine = current?.known.get(of);
    if (machine === undefined) {
      throw new ServiceError('not_found', 'There is no such machine now.');
    }
    return shownMachine(of, machine, current!.progress.needed, columns);
  }

  /** What a person says of an alarm. @throws ServiceError `validation.failed`, `outcome.unknown` */
  async confirm(answer: unknown, id: unknown, key: string | undefined): Promise<void> {
    const said = oneOf('The property "answer"', answer, ['real', 'usual']);
    await (await this.keeper.open()).confirm(said, String(id), key);
    nodeChanged(this.red, this.node.id, true);
  }

  /** What a person says of the odd periods of the history. @throws as `confirm` */
  async odd(answer: unknown, key: string | undefined): Promise<void> {
    const said = oneOf('The property "answer"', answer, ['usual', 'faults']);
    await (await this.keeper.open()).odd(said, key);
    nodeChanged(this.red, this.node.id, true);
  }
}
