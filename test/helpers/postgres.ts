import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { freePort } from './node-red';
import { waitFor } from './wait';

export interface Postgres {
  /** Which one runs: the server of this machine, or the one that npm packages as WebAssembly. */
  kind: 'server' | 'pglite';
  port: number;
  close(): Promise<void>;
}

/** A PostgreSQL of its own on a free port of 127.0.0.1: user and database `postgres`, no password. */
export async function startPostgres(): Promise<Postgres> {
  const bin = process.env.PGLITE === undefined ? binaries() : undefined;
  return bin === undefined ? startPglite() : startServer(bin);
}

/** The folder of `initdb` and `postgres`: on the path, or where Debian puts them. */
function binaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...(fs.existsSync(debian) ? fs.readdirSync(debian).map((v) => path.join(debian, v, 'bin')) : []),
  ];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => fs.existsSync(path.join(folder, name))),
  );
}

/** PostgreSQL refuses to run as root: then it runs as nobody. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function startServer(bin: string): Promise<Postgres> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-postgres-'));
  const user = unprivileged();
  if (user.uid !== undefined) {
    fs.chownSync(folder, user.uid, user.gid!);
  }
  const data = path.join(folder, 'data');
  const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), options, { ...user, cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  const server = spawn(
    path.join(bin, 'postgres'),
    ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off'],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let printed = '';
  server.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = once(server, 'exit');
  await waitFor('PostgreSQL', () => (printed.includes('ready to accept connections') ? true : undefined));
  return {
    kind: 'server',
    port,
    async close() {
      server.kill('SIGINT');
      await exited;
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startPglite(): Promise<Postgres> {
  const { PGlite } = await import('@electric-sql/pglite');
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket');
  const db = await PGlite.create();
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: '127.0.0.1' });
  await server.start();
  return {
    kind: 'pglite',
    port,
    async close() {
      await server.stop();
      await db.close();
    },
  };
}
