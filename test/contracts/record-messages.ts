/*
 * Records what the nodes of a release answer, and keeps its examples:
 *
 *     npx tsx test/contracts/record-messages.ts <built checkout of the release>
 */
import fs from 'node:fs';
import path from 'node:path';

import { packFolder } from './archive';
import { EXAMPLES, MESSAGES, runCases } from './messages';

async function main([release = '']: string[]): Promise<void> {
  const { results } = await runCases({ package: path.resolve(release) });
  fs.writeFileSync(MESSAGES, `${JSON.stringify(results, undefined, 1)}\n`);
  fs.writeFileSync(EXAMPLES, packFolder(path.join(release, 'examples')));
}

void main(process.argv.slice(2));
