import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

const dist = path.resolve(__dirname, '../../../dist');
const nodes = path.join(dist, 'nodes');
const NODES = ['config', 'limits', 'upload', 'fit', 'predict', 'cost'];
const LANGUAGES = ['en-US', 'de', 'ja'];
const SHARED = 'node-red-contrib-tabular-prediction/tabular-config:';

const read = (...parts: string[]) => fs.readFileSync(path.join(nodes, ...parts), 'utf8');

/** A catalogue as flat keys: `label.name` → text. */
function catalogue(language: string, node: string): Map<string, string> {
  const flat = new Map<string, string>();
  const walk = (value: object, prefix: string): void => {
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string') flat.set(prefix + key, inner);
      else walk(inner as object, `${prefix}${key}.`);
    }
  };
  walk(JSON.parse(read('locales', language, `${node}.json`)) as object, '');
  return flat;
}

const placeholders = (text: string) => [...text.matchAll(/__\w+?__/g)].map(String).sort();
const codes = (help: string) => [...help.matchAll(/<li><code>([a-z._]+)<\/code>/g)].map((match) => match[1]);
const terms = (help: string) => [...help.matchAll(/<dt[^>]*>([a-z_]+) <span/g)].map((match) => match[1]);
const tags = (help: string) => [...help.matchAll(/<\/?[a-z0-9]+/g)].map(String);

describe('catalogues', () => {
  for (const node of NODES) {
    const english = catalogue('en-US', node);
    for (const language of LANGUAGES.slice(1)) {
      it(`${node}: ${language} has the keys and placeholders of en-US`, () => {
        const other = catalogue(language, node);
        assert.deepEqual([...other.keys()].sort(), [...english.keys()].sort());
        for (const [key, text] of english) {
          assert.deepEqual(placeholders(other.get(key)!), placeholders(text), key);
          assert.notEqual(other.get(key), '', key);
        }
      });

      it(`${node}: the help in ${language} is built as the one in en-US`, () => {
        const help = read('locales', language, `${node}.html`);
        const original = read('locales', 'en-US', `${node}.html`);
        assert.deepEqual(tags(help), tags(original));
        assert.deepEqual(codes(help), codes(original));
        assert.deepEqual(terms(help), terms(original));
      });
    }

    it(`${node}: every key that the dialog names is there`, () => {
      const shared = catalogue('en-US', 'config');
      const html = read(`${node}.html`);
      const keys = [
        ...[...html.matchAll(/data-i18n="(?:\[\w+\])?([^"]+)"/g)].map((match) => match[1]!),
        ...[...html.matchAll(/_\('([\w.]+)'/g)].map((match) => match[1]!).filter((key) => !key.endsWith('.')),
        ...[...html.matchAll(/\blabel\('(\w+)'\)/g)].map((match) => `${SHARED}label.${match[1]!}`),
        ...[...html.matchAll(/\bown\('(\w+)'\)/g)].map((match) => `label.${match[1]!}`),
      ];
      assert.ok(keys.length > 5);
      for (const key of keys) {
        if (key === 'labels.output') continue;
        const known = key.startsWith(SHARED) ? shared.has(key.slice(SHARED.length)) : english.has(key);
        assert.ok(known, key);
      }
    });
  }

  it('hold every status and warning that runtime shows', () => {
    const shared = catalogue('en-US', 'config');
    const sources = ['../src/runtime', '.'].flatMap((folder) =>
      fs
        .readdirSync(path.join(nodes, folder))
        .filter((file) => file.endsWith('.js'))
        .map((file) => read(folder, file)),
    );
    const keys = sources.flatMap((source) => [
      ...[...source.matchAll(/\.show\('\w+', '([\w.]+)'/g)].map((match) => `status.${match[1]!}`),
      ...[...source.matchAll(/'(warning\.\w+)'/g)].map((match) => match[1]!),
    ]);
    assert.ok(keys.length > 8);
    for (const key of keys) assert.ok(shared.has(key), key);
    for (const key of [
      'reading',
      'predicting',
      'fitted.classification',
      'fitted.regression',
      'uploaded.sent',
    ]) {
      assert.ok(shared.has(`status.${key}`), key);
    }
  });

  it('hold every text of the dialogs’ shared script', () => {
    const shared = catalogue('en-US', 'config');
    const script = fs.readFileSync(path.join(dist, '..', 'resources', 'editor.js'), 'utf8');
    const keys = [...script.matchAll(/\btext\((?:\w+ \? )?'([\w.]+)'(?: : '([\w.]+)')?/g)]
      .flatMap((match) => [match[1], match[2]])
      .filter((key) => key !== undefined);
    assert.ok(keys.length > 10);
    for (const key of keys) assert.ok(shared.has(key), key);
  });

  it('the help names only codes of the closed table', async () => {
    const { ERROR_CODES } = await import('../../../dist/src/wire/service-error.js');
    const named = NODES.flatMap((node) => codes(read('locales', 'en-US', `${node}.html`)));
    assert.ok(named.length > 50);
    for (const code of named) assert.ok((ERROR_CODES as readonly string[]).includes(code!), code);
  });
});

describe('icons', () => {
  for (const node of NODES.slice(1)) {
    it(`${node}: white on transparent, 40 by 60`, () => {
      const svg = read('icons', `tabular-${node}.svg`);
      assert.match(svg, /width="40" height="60" viewBox="0 0 40 60"/);
      const colours = [...svg.matchAll(/(?:fill|stroke)="([^"]+)"/g)].map((match) => match[1]);
      assert.ok(colours.every((colour) => colour === '#fff' || colour === 'none'));
      assert.ok(read(`${node}.html`).includes(`icon: 'tabular-${node}.svg'`));
    });
  }
});
