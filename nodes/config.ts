import type { NodeAPI } from 'node-red';

import { adminRoutes } from '../src/runtime/config/admin';
import type { ConfigCredentials, ConfigDef } from '../src/runtime/config/client-options';
import { ServiceHandle, type StartEmbedded } from '../src/runtime/config/config-node';
import type { FlowNode } from '../src/runtime/node-red';
import { LEARNER } from '../src/service/version';

const startEmbedded: StartEmbedded = async (options) => {
  const { startService } = await import('../src/service/index.js');
  return startService(options);
};

interface ConfigNode extends FlowNode<ConfigCredentials> {
  handle: ServiceHandle;
}

/** tabular-config: which service, and what its nodes share. */
module.exports = function (RED: NodeAPI): void {
  function TabularConfig(this: ConfigNode, def: ConfigDef): void {
    RED.nodes.createNode(this, def);
    this.handle = new ServiceHandle(RED, this, def, startEmbedded, LEARNER);
    this.on('close', (_removed: boolean, closed: () => void) => {
      this.handle
        .close()
        .catch((error: unknown) => this.warn(String(error)))
        .finally(closed);
    });
  }
  RED.nodes.registerType<ConfigNode, ConfigDef, object, ConfigCredentials>('tabular-config', TabularConfig, {
    credentials: { token: { type: 'password' } },
  });
  adminRoutes(RED, startEmbedded);
};
