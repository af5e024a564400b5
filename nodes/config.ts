import type { NodeAPI } from 'node-red';

import {
  type ConfigCredentials,
  type ConfigDef,
  ConfigState,
  provideDefaultService,
  type StartEmbedded,
} from '../src/runtime/config/config-state';
import { editorRoutes } from '../src/runtime/editor-routes';
import type { FlowNode } from '../src/runtime/node-red';
import { NodeRuntime } from '../src/runtime/node-runtime';
import { LEARNER } from '../src/service/version';

const startEmbedded: StartEmbedded = async (options) => {
  const { startService } = await import('../src/service/index.js');
  return startService(options);
};
const EMBEDDED = { start: startEmbedded, learner: LEARNER };

interface ConfigNode extends FlowNode<ConfigCredentials> {
  state: ConfigState;
}

/** tabular-config: which service, and what its nodes share. */
module.exports = function (RED: NodeAPI): void {
  function TabularConfig(this: ConfigNode, def: ConfigDef): void {
    RED.nodes.createNode(this, def);
    this.state = new ConfigState(new NodeRuntime(RED, this, def), EMBEDDED);
    this.on('close', (_removed: boolean, closed: () => void) => {
      this.state
        .close()
        .catch((error: unknown) => this.warn(String(error)))
        .finally(closed);
    });
  }
  RED.nodes.registerType<ConfigNode, ConfigDef, object, ConfigCredentials>('tabular-config', TabularConfig, {
    credentials: { token: { type: 'password' } },
  });
  provideDefaultService(
    (node) =>
      new ConfigState(
        new NodeRuntime(RED, node, { id: '', type: 'tabular-config', name: '', z: '' }),
        EMBEDDED,
      ),
  );
  editorRoutes(RED, startEmbedded);
};
