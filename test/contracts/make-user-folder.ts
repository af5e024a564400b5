/*
 * Makes the user folder that later releases have to take over, and records what its own release tells of it:
 *
 *     npx tsx test/contracts/make-user-folder.ts <built checkout of the release> [answers]
 *
 * With `answers`, the folder stays and only what is told of it is recorded again: for steps that are new.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { packFolder } from './archive';
import { ContractNodeRed } from './contract-node-red';
import { PlayedService } from './played-service';
import { ANSWERS, type Answers, ARCHIVE, askUserFolder, MODEL_FILE } from './user-folder';
import { EXPORTED, FLOW, MADE } from './user-folder-flow';

async function make(release: string): Promise<Answers['service']> {
  const service = new PlayedService();
  await service.listen();
  const userDir = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-user-folder-'));
  const red = await ContractNodeRed.start({
    nodes: FLOW,
    package: release,
    userDir,
    env: { http_proxy: service.url },
  });
  for (const { to, messages } of MADE) {
    const { errors } = await red.outcomeOf(to, messages);
    if (Object.keys(errors).length > 0) {
      throw new Error(JSON.stringify(errors).slice(0, 2000));
    }
  }
  const file = await red.call(`GET /tabular-prediction/models/own service/export?model=${EXPORTED}`);
  await red.stop();
  await service.close();
  // What Node-RED itself keeps there is not ours.
  for (const name of fs.readdirSync(userDir)) {
    if (name !== 'tabular-prediction') {
      fs.rmSync(path.join(userDir, name), { recursive: true, force: true });
    }
  }
  fs.writeFileSync(path.join(userDir, MODEL_FILE), file.body as Buffer);
  fs.writeFileSync(ARCHIVE, packFolder(userDir));
  fs.rmSync(userDir, { recursive: true, force: true });
  return Object.fromEntries(service.models);
}

async function main([release = '', only]: string[]): Promise<void> {
  const folder = path.resolve(release);
  const service =
    only === 'answers'
      ? (JSON.parse(fs.readFileSync(ANSWERS, 'utf8')) as Answers).service
      : await make(folder);
  const answers = await askUserFolder(service, { package: folder });
  fs.writeFileSync(ANSWERS, `${JSON.stringify(answers, undefined, 1)}\n`);
}

void main(process.argv.slice(2));
