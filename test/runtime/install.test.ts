import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type FlowNode, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { NODE_TYPES } from '../helpers/package-nodes';
import { npm, packedAs, packedPackage } from '../helpers/packed';

const NAME = 'node-red-contrib-tabular-prediction';
const OLD = '0.0.1';
const { version: NEW } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const flow = JSON.parse(
  fs.readFileSync(path.join(root, 'examples', 'First steps.json'), 'utf8'),
) as FlowNode[];
const find = (type: string, name: string): string =>
  flow.find((node) => node.type === type && node.name === name)!.id;

interface NodeSet {
  module: string;
  version: string;
  types: string[];
  enabled: boolean;
  err?: string;
}

/* The steps follow each other in one user folder, as they do on a user's machine. */
describe('from a bare user folder: install, upgrade, remove, install again', function () {
  this.timeout(240_000);

  let folder: string;
  let userDir: string;
  let temporary: string;
  let red: RealNodeRed | undefined;

  const start = async (flows: FlowNode[]): Promise<RealNodeRed> => {
    red = await startNodeRed({
      flows,
      userDir,
      link: {},
      installs: true,
      env: { TMPDIR: temporary, npm_config_prefer_offline: 'true' },
    });
    return red;
  };

  const stop = async (): Promise<void> => {
    const code = await red?.stop();
    red = undefined;
    assert.equal(code ?? 0, 0);
  };

  const palette = async (): Promise<NodeSet[]> => {
    const answer = await fetch(`${red!.url}/nodes`, { headers: { accept: 'application/json' } });
    const sets = (await answer.json()) as NodeSet[];
    return sets.filter((set) => set.module === NAME);
  };

  const install = async (version: string, tarball: string): Promise<void> => {
    const answer = await fetch(`${red!.url}/nodes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ module: NAME, version, url: tarball }),
    });
    assert.equal(answer.status, 200, await answer.text());
  };

  const assertInPalette = async (version: string): Promise<void> => {
    const sets = await palette();
    assert.deepEqual(sets.flatMap((set) => set.types).sort(), [...NODE_TYPES].sort());
    for (const set of sets) {
      assert.ok(set.enabled && set.err === undefined, JSON.stringify(set));
      assert.equal(set.version, version);
    }
    const answer = await fetch(`${red!.url}/nodes/${NAME}`, { headers: { accept: 'application/json' } });
    const info = (await answer.json()) as { version: string; user: boolean };
    assert.equal(info.user, true, 'the palette manager offers to remove it');
  };

  const assertPredicts = async (): Promise<void> => {
    const id = find('debug', 'rows with their prediction');
    const before = red!.debug.filter((shown) => shown.id === id).length;
    await red!.inject(find('inject', 'Predict'));
    const shown = await red!.shown(id, before + 1, 60_000);
    const rows = shown.at(-1)!.msg as { ripe: string }[];
    assert.deepEqual(
      rows.map(({ ripe }) => ripe),
      ['yes', 'no', 'yes'],
    );
  };

  const filesBelow = (top: string): string[] =>
    fs
      .readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(top, path.join(entry.parentPath, entry.name)));

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-bare-'));
    userDir = path.join(folder, 'user');
    temporary = path.join(folder, 'tmp');
    fs.mkdirSync(userDir);
    fs.mkdirSync(temporary);
    fs.writeFileSync(
      path.join(userDir, 'package.json'),
      JSON.stringify({ name: 'user-folder', private: true }),
    );
  });

  after(async () => {
    await red?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  it('npm install in the user folder: the nodes are in the palette, and the first steps work', async () => {
    npm(['install', '--no-audit', '--no-fund', '--prefer-offline', packedAs(OLD)], userDir);
    await start(flow);
    await assertInPalette(OLD);
    await red!.inject(find('inject', 'Train'));
    await red!.shown(find('debug', 'model card'), 1, 60_000);
    await assertPredicts();
  });

  it('the Import dialog offers the examples', async () => {
    const library = `${red!.url}/library/examples/flows/${NAME}/`;
    const offered = (await (await fetch(library)).json()) as (string | { fn: string })[];
    const names = fs.readdirSync(path.join(root, 'examples')).map((file) => path.parse(file).name);
    // A folder is a plain string, a flow an object.
    assert.deepEqual(offered.map((one) => (typeof one === 'string' ? one : one.fn)).sort(), names.sort());
    const one = await fetch(`${library}First%20steps`);
    assert.deepEqual(await one.json(), flow);
  });

  it('upgrade from the palette, restart: the flow goes on with the model of before', async () => {
    await install(NEW, packedPackage().tarball);
    await assertPredicts();
    await stop();
    await start(flow);
    await assertInPalette(NEW);
    await assertPredicts();
  });

  it('remove from the palette: nothing is left but the models', async () => {
    await red!.deploy([]);
    const answer = await fetch(`${red!.url}/nodes/${NAME}`, { method: 'DELETE' });
    assert.equal(answer.status, 204, await answer.text());
    assert.deepEqual(await palette(), []);
    const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(userDir, 'package.json'), 'utf8')) as {
      dependencies?: object;
    };
    assert.deepEqual(dependencies, {});
    const left = filesBelow(userDir);
    assert.deepEqual(
      left.filter((file) => file.startsWith('node_modules') && !file.endsWith('.package-lock.json')),
      [],
    );
    const others = new Set(left.map((file) => file.split(path.sep)[0]));
    // What Node-RED itself keeps in a user folder begins with a dot or is in this list.
    const own = ['flows.json', 'flows_cred.json', 'settings.js', 'package.json', 'package-lock.json'];
    assert.deepEqual(
      [...others].filter((name) => !name!.startsWith('.') && !own.includes(name!)),
      ['node_modules', 'tabular-prediction'].filter((name) => others.has(name)),
    );
    assert.ok(fs.existsSync(path.join(userDir, 'tabular-prediction', 'models.json')));
  });

  it('install from the palette: in use without a restart, and the model is known', async () => {
    await install(NEW, packedPackage().tarball);
    await assertInPalette(NEW);
    await red!.deploy(flow);
    await assertPredicts();
    await stop();
  });

  it('leaves no temporary file behind', () => {
    // npm on a newer Node keeps compiled code there.
    const ours = filesBelow(temporary).filter((file) => !file.startsWith('node-compile-cache'));
    assert.deepEqual(ours, []);
  });
});
