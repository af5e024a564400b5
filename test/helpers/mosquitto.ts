import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { freePort } from './node-red';
import { removedAtEnd, whenProcessEnds } from './temporary';
import { waitFor } from './wait';

/** The broker's binary: the variable MOSQUITTO, or on the path, or where Debian puts it. */
export function mosquittoBinary(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin'];
  const found = folders.map((folder) => path.join(folder, 'mosquitto')).find((file) => fs.existsSync(file));
  return process.env.MOSQUITTO ?? found;
}

export interface MqttClient {
  publishAsync(
    topic: string,
    payload: string | Buffer,
    options: { qos: 1; retain?: boolean },
  ): Promise<unknown>;
  subscribeAsync(topics: string[], options: { qos: 1 }): Promise<unknown>;
  on(event: 'message', listener: (topic: string, payload: Buffer) => void): void;
  endAsync(): Promise<void>;
}

/** The MQTT client that Node-RED itself uses. */
export const mqtt = createRequire(
  require.resolve('@node-red/nodes/package.json', { paths: [require.resolve('node-red')] }),
)('mqtt') as { connectAsync(url: string, options: object): Promise<MqttClient> };

export interface Mosquitto {
  port: number;
  /** How many times a client has left this subscription: from then on it gets nothing of it. */
  left(topic: string): number;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it once more on its port, with what it keeps on disk. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

export interface MosquittoOptions {
  /** Whether it keeps retained messages on disk, each as it comes. */
  persistent?: boolean;
  /** The largest packet that it takes, in bytes. */
  maxPacketBytes?: number;
}

const LOGGED = ['error', 'warning', 'notice', 'information', 'unsubscribe']
  .map((type) => `log_type ${type}\n`)
  .join('');

/** A Mosquitto of its own on a free port of 127.0.0.1. */
export async function startMosquitto(binary: string, options: MosquittoOptions = {}): Promise<Mosquitto> {
  const folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-mosquitto-')));
  const port = await freePort();
  const config = path.join(folder, 'mosquitto.conf');
  const kept = options.persistent
    ? `persistence true\npersistence_location ${folder}/\nautosave_on_changes true\nautosave_interval 1\n`
    : 'persistence false\n';
  const bound = options.maxPacketBytes === undefined ? '' : `max_packet_size ${options.maxPacketBytes}\n`;
  fs.writeFileSync(
    config,
    `listener ${port} 127.0.0.1\nallow_anonymous true\n${kept}${bound}max_queued_messages 0\nlog_dest stderr\n${LOGGED}`,
  );
  // Started by root it becomes a user of its own.
  fs.chmodSync(folder, 0o777);

  let broker: ChildProcess;
  let exited: Promise<unknown>;
  let printed = '';
  const start = async (): Promise<void> => {
    const before = printed.length;
    broker = spawn(binary, ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    broker.stderr!.on('data', (text: Buffer) => (printed += text.toString()));
    exited = once(broker, 'exit');
    await waitFor('Mosquitto', () => printed.slice(before).includes('running') || undefined).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}\n${printed}`);
      },
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    broker.kill(signal);
    await exited;
  };
  await start();
  whenProcessEnds(() => broker.kill('SIGKILL'));
  return {
    port,
    left: (topic) => printed.split('\n').filter((line) => line.endsWith(` ${topic}`)).length,
    kill: () => end('SIGKILL'),
    startAgain: start,
    async close() {
      await end('SIGTERM');
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
