#!/usr/bin/env node
import { isatty } from 'node:tty';

import { toServiceError } from '../wire/service-error';
import { type CliOptions, HELP, readCommandLine } from './command-line';
import type { Log } from './options';
import { startService } from './process/start';
import { VERSION } from './version';

async function main(): Promise<void> {
  let options: CliOptions | 'help' | 'version';
  try {
    options = readCommandLine(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`tabular-service: ${(error as Error).message}\nTry tabular-service --help.\n`);
    process.exitCode = 2;
    return;
  }
  if (options === 'help') {
    process.stdout.write(HELP);
  } else if (options === 'version') {
    process.stdout.write(`${VERSION}\n`);
  } else {
    await serve(options);
  }
}

/** Less than the ten seconds after which docker stop kills, with what closing takes beside. */
const GRACE_MS = 8_000;

async function serve(options: CliOptions): Promise<void> {
  const { verbose } = options;
  // Whoever reads its output may go away; the service goes on.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
  }
  // A bound on the size of files (ulimit -f) is answered like a full disk; without a listener it ends the process.
  if (process.platform !== 'win32') {
    process.on('SIGXFSZ', () => undefined);
  }
  // Node makes SIGHUP end a process again where nohup had it ignored; nohup leaves none of these at the terminal.
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const log: Log = (level, text) => {
    if (level === 'warn' || verbose) {
      process.stderr.write(`${text}\n`);
    }
  };
  const { data: dataDir, token, ...rest } = options;
  const service = await startService({
    ...rest,
    dataDir,
    log,
    graceMs: GRACE_MS,
    ...(token !== undefined && { token }),
  });
  process.stdout.write(`tabular-service ${VERSION} listens on ${service.url}\n`);
  process.stdout.write(`Data: ${dataDir}\n`);
  if (token === undefined) {
    process.stdout.write(`Token: ${service.token}\n`);
  }
  let ending = false;
  const end = (): void => {
    if (ending) {
      process.exit(1);
    }
    ending = true;
    void service.close().finally(() => process.exit(0));
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  process.on('SIGHUP', () => {
    // Both the shell and the kernel may send one as a terminal closes.
    if (!hasTerminal || ending) {
      return;
    }
    ending = true;
    void service.close().finally(() => {
      // An exit would set the terminal back as it was, and Node aborts where that is gone.
      process.removeAllListeners('SIGHUP');
      process.kill(process.pid, 'SIGHUP');
    });
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`tabular-service: ${toServiceError(error).message}\n`);
  process.exitCode = 1;
});
