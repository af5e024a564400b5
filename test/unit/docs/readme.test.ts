import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { ERROR_CODES } from '../../doors/wire';
import { catalogue, NODES } from '../../helpers/dialogs';

const root = path.resolve(__dirname, '..', '..', '..');
const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};

function rowsOf(heading: string): string[] {
  const section = readme.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| code') && !line.startsWith('| package'))
    .map((line) => line.split('|')[1]!.trim().replaceAll('`', ''));
}

/** The anchors of a document's headings, as Markdown viewers make them. */
function anchorsOf(file: string): string[] {
  return [...fs.readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the README', () => {
  it('has one row for each error code, and for nothing else', () => {
    assert.deepEqual(rowsOf('Errors').sort(), [...ERROR_CODES].sort());
  });

  it('names each runtime dependency with its reason, and nothing else', () => {
    assert.deepEqual(rowsOf('Dependencies').sort(), Object.keys(manifest.dependencies).sort());
  });

  it('names every example, and nothing else', () => {
    const table = readme.split('### Examples\n')[1]!.split('\n### ')[0]!;
    const named = [...table.matchAll(/^\| ([^|]+) \|/gm)]
      .flatMap((row) => row[1]!.split(':')[0]!.split(' · '))
      .filter((name) => name !== 'example')
      .map((name) => `${name}.json`);
    const files = fs.readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.json'));
    assert.deepEqual(named.sort(), files.sort());
  });

  it('names, as the sources do, no document that is not in the package', () => {
    const files = ['src', 'nodes', 'docs', 'resources'].flatMap((folder) =>
      fs
        .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(ts|js|html|md)$/.test(name))
        .map((name) => path.join(folder, name)),
    );
    assert.ok(files.length > 200);
    const pointing = [...files, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].filter((file) =>
      /\bDESIGN\b/.test(fs.readFileSync(path.join(root, file), 'utf8')),
    );
    assert.deepEqual(pointing, []);
  });

  it('leads, as the other documents do, to files and headings that are there', () => {
    const documents = fs
      .readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join('docs', name));
    const links = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...documents].flatMap((file) =>
      [...fs.readFileSync(path.join(root, file), 'utf8').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
        (match) => ({
          file,
          link: match[1]!,
        }),
      ),
    );
    assert.ok(links.length > 50);
    const broken = links.filter(({ file, link }) => {
      const [name, anchor] = link.split('#') as [string, string?];
      const target =
        name === '' ? path.join(root, file) : path.join(root, path.dirname(file), decodeURI(name));
      return !fs.existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    assert.deepEqual(broken, []);
  });

  it('names fields of the dialogs by their labels', () => {
    const labels = new Set(NODES.flatMap((node) => [...catalogue('en-US', node).values()]));
    // Node-RED's own words.
    for (const word of ['Manage palette', 'Install', 'Import', 'Examples', 'Deploy']) {
      labels.add(word);
    }
    const known = [...labels].map((label) => label.replace(/ \(.*\)$|:.*$/, ''));
    const named = [...readme.matchAll(/(?<!\*)\*([A-Z][^*\n]*)\*(?!\*)/g)].map((match) => match[1]!);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });

  it('runs, as the other documents do, the standalone service by the name of this package', () => {
    const files = ['docs', 'scripts/examples', 'examples'].flatMap((folder) =>
      fs
        .readdirSync(path.join(root, folder))
        .filter((name) => /\.(md|mjs|json)$/.test(name))
        .map((name) => path.join(folder, name)),
    );
    const commands = [...files, 'README.md'].flatMap((file) => [
      ...fs.readFileSync(path.join(root, file), 'utf8').matchAll(/npx [^\n`]*tabular-service [^\n`]+/g),
    ]);
    assert.ok(commands.length >= 4);
    for (const [command] of commands) {
      assert.match(command, /^npx -p node-red-contrib-tabular-prediction tabular-service /);
    }
  });

  it('points only at files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1]!);
    assert.ok(links.length > 5);
    for (const link of links) {
      assert.ok(fs.existsSync(path.join(root, link)), link);
    }
  });
});
