import { ServiceError } from '../../wire/service-error';
import { nodeChanged } from '../model-changed';
import type { NodeRuntime } from '../node-runtime';
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
export function showInSidebar(runtime: NodeRuntime, keeper: AnomalyKeeper): void {
  const { node } = runtime;
  const shown = new ShownNode(runtime, keeper);
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

/** A query or a body. */
type Asked = Record<string, unknown>;

/**
 * An anomaly node, as the sidebar asks it. A machine is named by its `key`, which may hold any character; without one,
 * all readings are of one machine.
 */
class ShownNode {
  constructor(
    private readonly runtime: NodeRuntime,
    private readonly keeper: AnomalyKeeper,
  ) {}

  /** Its machines. Of a node that has had no reading since its start, and has kept nothing, none. */
  get listed(): ListedNode {
    const { current } = this.keeper;
    const machines = [...(current?.known ?? [])].map(([key, machine]) =>
      listedMachine(key, machine, current!.progress.needed),
    );
    return { id: this.runtime.id, name: this.runtime.node.name ?? '', machines };
  }

  /**
   * @param asked the key of a machine, left out where all readings are of one; the columns whose rows are shown first
   * @throws ServiceError `not_found`
   */
  machine({ key, column }: Asked): ShownMachine {
    const { current } = this.keeper;
    const of = keyOf(key) ?? null;
    const machine = current?.known.get(of);
    if (machine === undefined) {
      throw new ServiceError('not_found', 'There is no such machine now.');
    }
    return shownMachine(of, machine, current!.progress.needed, textsOf(column));
  }

  /** What a person says of an alarm or of a sensor that has moved. @throws ServiceError `validation.failed`, `outcome.unknown` */
  async confirm({ key, id, answer }: Asked): Promise<{ answer: unknown }> {
    const said = oneOf('The property "answer"', answer, ['real', 'usual']);
    await (await this.keeper.open()).confirm(said, String(id), keyOf(key));
    nodeChanged(this.runtime.red, this.runtime.id, true);
    return { answer };
  }

  /** What a person says of the odd periods of the history. @throws as `confirm` */
  async odd({ key, answer }: Asked): Promise<{ answer: unknown }> {
    const said = oneOf('The property "answer"', answer, ['usual', 'faults']);
    await (await this.keeper.open()).odd(said, keyOf(key));
    nodeChanged(this.runtime.red, this.runtime.id, true);
    return { answer };
  }
}

function keyOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** What is in a query once, several times, or not at all. */
function textsOf(value: unknown): string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}
