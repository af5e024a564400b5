import { onModelChanged } from '../model-changed';
import type { FlowNode, Red } from '../node-red';
import { StatusLine } from '../status/status-line';
import { changeMessages } from './changes/change-message';
import type { WatchKeeper } from './keeper';
import { watchStatus } from './status';

/**
 * Another version that takes over, by a fit or by hand, is reported at once, in the status and on output 2: the next
 * prediction may be hours away.
 */
export function followModel(red: Red, node: FlowNode, keeper: WatchKeeper): void {
  onModelChanged(node, (model) => {
    // A closed node, or a field that is wrong: the next message tells.
    void follow(model).catch(() => undefined);
  });

  async function follow(model: string): Promise<void> {
    const changes = await keeper.followed(model);
    if (changes.length === 0) {
      return;
    }
    keeper.counted([model], changes);
    const watches = await keeper.all();
    const watch = watches.find((one) => one.model.name === model);
    if (watch !== undefined) {
      const report = watch.report();
      StatusLine.of(node, red).become(() => watchStatus(red, report, watches.length > 1));
    }
    const told = { _msgid: red.util.generateId() };
    node.send([null, changeMessages(changes, keeper.textOf, told)]);
  }
}
