import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const root = path.resolve(__dirname, '..', '..', '..');
const folder = path.join(root, 'examples');

type Node = Record<string, unknown> & { id: string; type: string };

const read = (file: string): unknown => JSON.parse(fs.readFileSync(file, 'utf8'));
const nodesOf = (file: string) => read(path.join(folder, file)) as Node[];
const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json'));
const PLACES = ['x', 'y', 'w', 'h'];
/** What people read, but for the label and info of the tab. */
const TEXTS = ['name', 'info', 'label', 'title', 'xAxisLabel', 'yAxisLabel', 'units'];

function textsOf(node: Node): string[] {
  const shown = node.type.startsWith('ui-')
    ? TEXTS
    : ['name', 'info', ...(node.type === 'tab' ? ['label'] : [])];
  return shown.filter((property) => typeof node[property] === 'string' && node[property].trim() !== '');
}

/** The nodes without places and texts, each id by the place of its node in the file. */
function bare(nodes: Node[]): unknown {
  const kept = nodes.map((node) => {
    const gone = [...PLACES, ...textsOf(node)];
    return Object.fromEntries(Object.entries(node).filter(([property]) => !gone.includes(property)));
  });
  return JSON.parse(
    nodes.reduce((text, { id }, at) => text.replaceAll(id, `node ${at}`), JSON.stringify(kept)),
  );
}

for (const [language, name] of Object.entries({ de: 'Deutsch', ja: '日本語' })) {
  describe(`the examples in ${name}`, () => {
    const catalogue = read(path.join(root, 'scripts', 'examples', 'locales', `${language}.json`)) as Record<
      string,
      string
    >;

    it('have a translation of every text, and none that is unused', () => {
      const texts = new Set<string>();
      for (const file of files) {
        for (const node of nodesOf(file)) {
          textsOf(node).forEach((property) => texts.add(String(node[property])));
        }
      }
      assert.deepEqual(Object.keys(catalogue).sort(), [...texts].sort());
    });

    it('are the English ones but for texts, ids and places', () => {
      const translated = files.map((file) => `${catalogue[path.parse(file).name]}.json`);
      assert.deepEqual(fs.readdirSync(path.join(folder, name)).sort(), [...translated].sort());
      files.forEach((file, at) => {
        const english = nodesOf(file);
        const other = nodesOf(path.join(name, translated[at]!));
        assert.deepEqual(bare(other), bare(english), file);
        assert.ok(!other.some(({ id }) => english.some((node) => node.id === id)), file);
        other.forEach((node, i) => {
          for (const property of textsOf(english[i]!)) {
            assert.equal(node[property], catalogue[String(english[i]![property])], file);
          }
        });
      });
    });
  });
}
