import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { root } from '../../helpers/node-red';
import { NODE_FILES } from '../../helpers/package-nodes';

const dist = path.join(root, 'dist');

/** Files that requiring all node files loads in a fresh process, relative to dist/. */
function loaded(): string[] {
  const script = `
    for (const file of ${JSON.stringify(Object.values(NODE_FILES))}) require(${JSON.stringify(root)} + '/' + file);
    console.log(JSON.stringify(Object.keys(require.cache)));`;
  const files = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as string[];
  return files.map((file) => path.relative(dist, file).replaceAll('\\', '/'));
}

/** What is there for messages, or for the nodes of one type: of each, a door that brings the rest along. */
const FOR_LATER =
  /^src\/(runtime\/(series\/(?!load)|(anomaly|watch)\/(?!route|load))|connection\/|table\/index|client\/(index|service-client)|(series|anomaly|watch|service\/(routes|store|work)|learner\/(trees|training|model))\/)/;

// Node-RED requires every node of the package at startup: what is loaded there is paid for by flows that do not use it.
describe('loading all nodes', () => {
  it('loads no dependency, and no layer below, before a node or a message needs it', () => {
    const files = loaded();
    assert.ok(files.includes('nodes/watch.js'));
    assert.deepEqual(
      files.filter((file) => file.includes('node_modules') || FOR_LATER.test(file)),
      [],
    );
  });

  it('loads at most 60 small files', () => {
    assert.ok(loaded().length <= 60, `${loaded().length} files`);
  });
});
