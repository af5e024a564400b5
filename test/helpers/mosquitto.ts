import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { freePort } from './node-red';
import { waitFor } from './wait';

/** The broker's binary: the variable MOSQUITTO, or on the path, or where Debian puts it. */
export function mosquittoBinary(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'];
  const found = folders.map((folder) => path.join(folder, 'mosquitto')).find((file) => fs.existsSync(file));
  return process.env.MOSQUITTO ?? found;
}

export interface Mosquitto {
  port: number;
  /** How many times a client has left this subscription: from then on it gets nothing of it. */
  left(topic: string): number;
  close(): Promise<void>;
}

const LOGGED = ['error', 'warning', 'notice', 'information', 'unsubscribe']
  .map((type) => `log_type ${type}\n`)
  .join('');

/** A Mosquitto of its own on a free port of 127.0.0.1. */
export async function startMosquitto(binary: string): Promise<Mosquitto> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-mosquitto-'));
  const port = await freePort();
  const config = path.join(folder, 'mosquitto.conf');
  fs.writeFileSync(
    config,
    `listener ${port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\nlog_dest stderr\n${LOGGED}`,
  );
  fs.chmodSync(folder, 0o755);
  const broker = spawn(binary, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  broker.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(broker, 'exit');
  await waitFor('Mosquitto', () => (printed.includes('running') ? true : undefined)).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}\n${printed}`);
    },
  );
  return {
    port,
    left: (topic) => printed.split('\n').filter((line) => line.endsWith(` ${topic}`)).length,
    async close() {
      broker.kill('SIGTERM');
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
