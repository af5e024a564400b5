import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { mqtt, type MqttClient } from './mosquitto';
import { freePort, root } from './node-red';
import { OWN_FLAGS } from './own-flags';
import { waitFor } from './wait';

export interface Reading {
  key: string;
  values: { temperature: number; vibration: number; material: string };
}

export interface Result {
  key: string;
  load?: string;
  scorer?: string;
  code?: string;
}

/** The source of the readings and the place that results go to: what it has no result for, it sends again. */
export class Source {
  readonly results: Result[] = [];
  readonly errors: Result[] = [];
  readonly answered = new Map<string, Result>();
  /** Keys of the readings that were sent again. */
  readonly resent: string[] = [];
  private readonly waiting = new Map<string, Reading>();

  private constructor(private readonly client: MqttClient) {}

  static async connect(port: number): Promise<Source> {
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 });
    const source = new Source(client);
    client.on('message', (topic, payload) => {
      const result = JSON.parse(payload.toString()) as Result;
      if (topic === 'machines/errors') {
        source.errors.push(result);
        return;
      }
      source.results.push(result);
      source.waiting.delete(result.key);
      if (!source.answered.has(result.key)) {
        source.answered.set(result.key, result);
      }
    });
    await client.subscribeAsync(['machines/results', 'machines/errors'], { qos: 1 });
    return source;
  }

  async send(readings: Reading[]): Promise<void> {
    await Promise.all(
      readings.map((reading) => {
        this.waiting.set(reading.key, reading);
        return this.client.publishAsync('machines/readings', JSON.stringify(reading), { qos: 1 });
      }),
    );
  }

  /**
   * Waits for every result; with `resendMs`, what has none is sent again under its key once no result at all has come
   * for so long, and nobody works at one: a reading may be slow, but then it or others are on their way.
   */
  async settled(timeoutMs: number, resendMs = Infinity, isIdle = () => true): Promise<void> {
    const end = Date.now() + timeoutMs;
    let results = this.results.length;
    let quietSince = Date.now();
    while (this.waiting.size > 0) {
      if (Date.now() > end) {
        throw new Error(`no result for ${[...this.waiting.keys()].slice(0, 5).join(', ')} …`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (this.results.length !== results) {
        results = this.results.length;
        quietSince = Date.now();
      } else if (!isIdle()) {
        quietSince = Date.now();
      } else if (Date.now() - quietSince > resendMs) {
        const lost = [...this.waiting.values()];
        this.resent.push(...lost.map(({ key }) => key));
        quietSince = Date.now();
        await this.send(lost);
      }
    }
  }

  close(): Promise<void> {
    return this.client.endAsync();
  }
}

/** Readings whose load is far from the border, half of them high in no order that a mix-up would keep. */
export function readings(name: string, count: number): { reading: Reading; load: string }[] {
  return Array.from({ length: count }, (_, i) => {
    const high = (Math.imul(i + 1, 2_654_435_761) >>> 16) % 2 === 1;
    const values = high
      ? { temperature: 85 + (i % 10), vibration: 4, material: 'steel' }
      : { temperature: 25 + (i % 10), vibration: 1, material: 'oak' };
    return { reading: { key: `${name}/${i}`, values }, load: high ? 'high' : 'normal' };
  });
}

export interface StandaloneService {
  url: string;
  token: string;
  close(): Promise<void>;
}

/** `tabular-service` in a process of its own, as several Node-REDs share it. */
export async function startStandalone(): Promise<StandaloneService> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-standalone-'));
  const port = await freePort();
  const token = 'shared-by-all';
  const cli = path.join(root, 'dist', 'src', 'service', 'cli.js');
  const child = spawn(
    process.execPath,
    [...OWN_FLAGS, cli, '--port', String(port), '--token', token, '--data', folder],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(child, 'exit');
  await waitFor('tabular-service', () => (printed.includes('http://') ? true : undefined));
  return {
    url: `http://127.0.0.1:${port}`,
    token,
    async close() {
      child.kill('SIGTERM');
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
