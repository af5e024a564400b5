import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { OWN_FLAGS } from '../helpers/own-flags';
import { waitFor } from '../helpers/wait';
import { type Answer, answerOf, temporaryFolder } from './harness';

const CLI = path.join(__dirname, '../../dist/src/service/cli.js');

export interface Started {
  child: ChildProcess;
  url: string;
  token: string | undefined;
  output: () => string;
  errors: () => string;
}

/** Runs `tabular-service` as a process, until its address is printed. */
export async function startCli(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const child = spawn(process.execPath, [...OWN_FLAGS, CLI, ...args], { env: { ...process.env, ...env } });
  let out = '';
  let errors = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  // A token that it has made is the last that it prints.
  const isGiven = args.includes('--token') || env.TABULAR_SERVICE_TOKEN !== undefined;
  const last = isGiven ? /^Data: .*\n/m : /^Token: .*\n/m;
  const isOver = () => child.exitCode !== null || child.signalCode !== null || last.test(out);
  await waitFor('the address', isOver, 60_000);
  const url = /http:\/\/\S+/.exec(out)?.[0];
  if (url === undefined) {
    throw new Error(`no address: ${out}${errors}`);
  }
  return { child, url, token: /Token: (\S+)/.exec(out)?.[1], output: () => out, errors: () => errors };
}

/** Runs `tabular-service` in a terminal of its own, until its address is printed. The terminal closes when the process is killed. */
export async function inTerminal(args: string[]): Promise<ChildProcess> {
  const words = [process.execPath, ...OWN_FLAGS, CLI, ...args].map((word) => `'${word}'`);
  const terminal = spawn('script', ['-qec', `exec ${words.join(' ')}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  terminal.stdout.on('data', (data: Buffer) => (out += data.toString()));
  await waitFor('the address', () => terminal.exitCode !== null || /^Data: .*\r\n/m.test(out), 60_000);
  return terminal;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return child.exitCode;
  }
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
  return child.exitCode;
}

/** Runs `tabular-service` to its end. */
export async function runCli(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [...OWN_FLAGS, CLI, ...args], { env: { ...process.env, ...env } });
  let text = '';
  child.stdout.on('data', (data: Buffer) => (text += data.toString()));
  child.stderr.on('data', (data: Buffer) => (text += data.toString()));
  await once(child, 'close');
  return { code: child.exitCode, text };
}

/** Processes and folders of the tests in a suite, ended and removed after each. */
export function commandsOfTests() {
  const folders: string[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      await end(child, 'SIGKILL');
    }
    for (const made of folders.splice(0)) {
      await rm(made, { recursive: true, force: true });
    }
  });
  return {
    folder: async () => {
      const made = await temporaryFolder();
      folders.push(made);
      return made;
    },
    cli: async (args: string[], env?: NodeJS.ProcessEnv) => {
      const started = await startCli(args, env);
      children.push(started.child);
      return started;
    },
  };
}

export const limitsOf = (url: string, token = 'mine'): Promise<Answer> =>
  fetch(`${url}/svc/get_model_limits`, { headers: { authorization: `Bearer ${token}` } }).then(answerOf);
