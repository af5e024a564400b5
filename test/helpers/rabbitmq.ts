import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { freePort } from './node-red';
import { whenProcessEnds } from './temporary';
import { waitFor } from './wait';

/** The script of the broker: the variable RABBITMQ_SERVER, or where Debian puts it. */
export function rabbitmqScript(): string | undefined {
  const script = process.env.RABBITMQ_SERVER ?? '/usr/lib/rabbitmq/bin/rabbitmq-server';
  return fs.existsSync(script) ? script : undefined;
}

export interface RabbitMq {
  port: number;
  close(): Promise<void>;
}

/** A RabbitMQ of its own on free ports of 127.0.0.1, with the user guest; what it keeps goes with it. */
export async function startRabbitMq(script: string): Promise<RabbitMq> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-rabbitmq-'));
  const [port, distribution, epmd] = await Promise.all([freePort(), freePort(), freePort()]);
  const env = {
    ...process.env,
    HOME: folder,
    RABBITMQ_NODENAME: `tabular-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: path.join(folder, 'data'),
    RABBITMQ_LOG_BASE: path.join(folder, 'log'),
    RABBITMQ_PID_FILE: path.join(folder, 'pid'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: path.join(folder, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'plugins'),
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  fs.writeFileSync(env.RABBITMQ_ENABLED_PLUGINS_FILE, '[].\n');
  const broker = spawn(script, [], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  whenProcessEnds(() => broker.kill('SIGKILL'));
  let printed = '';
  broker.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  broker.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(broker, 'exit');
  const isUp = (): boolean => {
    if (broker.exitCode !== null) {
      throw new Error('RabbitMQ ended at its start');
    }
    return printed.includes('Starting broker... completed');
  };
  await waitFor('RabbitMQ', isUp, 120_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${printed}`);
  });
  return {
    port,
    async close() {
      broker.kill('SIGTERM');
      await exited;
      // The daemon of Erlang that knows the names of nodes stays otherwise.
      spawnSync('epmd', ['-port', env.ERL_EPMD_PORT, '-kill'], { stdio: 'ignore' });
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
