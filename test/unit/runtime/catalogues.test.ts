import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { catalogue, loadDialogs, NODES } from '../../helpers/dialogs';

const dist = path.resolve(__dirname, '../../../dist');
const nodes = path.join(dist, 'nodes');
const LANGUAGES = ['en-US', 'de', 'ja'];

const read = (...parts: string[]) => fs.readFileSync(path.join(nodes, ...parts), 'utf8');

/** What the dialogs do once they are open. */
function scriptTexts(): string {
  const files = ['validators.js', 'suggestions.js', 'vary.js', 'editor.js', 'column-types.js'].map((file) =>
    path.join(dist, '..', 'nodes', 'dialogs', file),
  );
  return [...files, path.join(nodes, 'config.html')].map((file) => fs.readFileSync(file, 'utf8')).join('\n');
}

const placeholders = (text: string) => [...text.matchAll(/__\w+?__/g)].map(String).sort();
const codes = (help: string) => [...help.matchAll(/<li><code>([a-z._]+)<\/code>/g)].map((match) => match[1]);
const terms = (help: string) => [...help.matchAll(/<dt[^>]*>([a-z_]+) <span/g)].map((match) => match[1]);
const tags = (help: string) => [...help.matchAll(/<\/?[a-z0-9]+/g)].map(String);

/** The words of a catalogue by their keys. */
function leaves(words: object, before = ''): [string, string][] {
  return Object.entries(words).flatMap(([key, word]: [string, string | object]) =>
    typeof word === 'string' ? [[`${before}${key}`, word]] : leaves(word, `${before}${key}.`),
  );
}

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
  }

  it('hold the words of the sidebar in every language, and no other', () => {
    const wordsOf = (language: string): Map<string, string> =>
      new Map(
        leaves(
          JSON.parse(
            fs.readFileSync(path.join(dist, 'plugins', 'locales', language, 'models.json'), 'utf8'),
          ) as object,
        ),
      );
    const english = wordsOf('en-US');
    for (const language of LANGUAGES) {
      const words = wordsOf(language);
      assert.deepEqual([...words.keys()], [...english.keys()]);
      for (const [key, word] of words) {
        assert.deepEqual(
          [...new Set(placeholders(word))],
          [...new Set(placeholders(english.get(key)!))],
          key,
        );
      }
    }
    const { size } = fs.statSync(path.join(dist, '..', 'resources', 'models.js'));
    assert.ok(size <= 62 * 1024, `the editor loads ${size} bytes`);
    const parts = path.join(dist, '..', 'plugins', 'models');
    const script = fs.readdirSync(parts).map((file) => fs.readFileSync(path.join(parts, file), 'utf8'));
    const used = [...script.join('').matchAll(/text\(\s*'([\w.]+)'/g)].map((match) => match[1]!);
    assert.deepEqual(
      used.filter((key) => !english.has(key)),
      [],
    );
  });

  for (const language of LANGUAGES) {
    it(`${language} holds every word of the dialogs`, () => {
      const { dialogs, missing } = loadDialogs(language);
      assert.deepEqual(missing, []);
      assert.equal(Object.keys(dialogs).length, NODES.length);
    });
  }

  it('hold nothing that no dialog asks for', () => {
    const { asked } = loadDialogs('en-US');
    const scripts = scriptTexts();
    // Statuses, warnings, changes, advice and causes are the runtime's, checked below and where they are written; Node-RED asks for the labels of the ports.
    const others = /^(status|warning|change|advice|labels|why)\./;
    for (const node of NODES) {
      for (const key of catalogue('en-US', node).keys()) {
        if (others.test(key) || asked.has(`${node}:${key}`) || scripts.includes(`'${key}'`)) {
          continue;
        }
        // Composed from what the service found, from the kind of button, from what a field suggests, or from the parts of a list.
        assert.match(
          key,
          /^types\.(number|integer|bigint|boolean|text|date|date-dmy|date-mdy|number-comma|number-point)$|^(test|label)\.(address|variable|token|noToken|otherAddress|apiName|apiNameTwice|tls|proxy|service|permission|failed|editConfig|addConfig)$|^lastReading\.(title|key|time|arrival|plain|count|missing)$|^operation\.(predict|cache_predict|thinking_fit|thinking_predict)$|^vary\.(column|from|to|step|cost|price)$/,
        );
      }
    }
  });

  it('hold every status and warning that runtime shows', () => {
    const shared = catalogue('en-US', 'config');
    const sources = ['../src/runtime', '.'].flatMap((folder) =>
      fs
        .readdirSync(path.join(nodes, folder), { recursive: folder !== '.', encoding: 'utf8' })
        .filter((file) => file.endsWith('.js'))
        .map((file) => read(folder, file)),
    );
    const keys = sources.flatMap((source) => [
      ...[...source.matchAll(/\.show\('\w+', '([\w.]+)'/g)].map((match) => `status.${match[1]!}`),
      ...[...source.matchAll(/\bkey: '([\w.]+)', (?:values|progress)|\bkey: '([\w.]+)',\n/g)].map(
        (match) => `status.${match[1] ?? match[2]!}`,
      ),
      ...[...source.matchAll(/'(warning\.\w+)'/g)].map((match) => match[1]!),
    ]);
    assert.ok(keys.length > 8);
    assert.ok(keys.includes('status.uploadingAt') && keys.includes('status.predictingOf'));
    for (const key of keys) {
      assert.ok(shared.has(key), key);
    }
    for (const key of [
      'reading',
      'predicting',
      'time.s',
      'time.min',
      'time.h',
      'fitted.classification',
      'fitted.regression',
      'uploaded.sent',
    ]) {
      assert.ok(shared.has(`status.${key}`), key);
    }
  });

  it('hold every text of the dialogs’ shared script', () => {
    const shared = catalogue('en-US', 'config');
    const script = scriptTexts().replaceAll('node._(', 'text(');
    const keys = [...script.matchAll(/(?<!rows\.)\btext\((?:\w+ \? )?'([\w.]*\w)'(?: : '([\w.]+)')?/g)]
      .flatMap((match) => [match[1], match[2]])
      .filter((key) => key !== undefined);
    assert.ok(keys.length > 10);
    for (const key of keys) {
      assert.ok(shared.has(key), key);
    }
  });

  it('the help names only codes of the closed table', async () => {
    const { ERROR_CODES } = await import('../../../dist/src/wire/service-error.js');
    const named = NODES.flatMap((node) => codes(read('locales', 'en-US', `${node}.html`)));
    assert.ok(named.length > 50);
    for (const code of named) {
      assert.ok((ERROR_CODES as readonly string[]).includes(code!), code);
    }
  });
});

describe('icons', () => {
  for (const node of NODES.slice(1)) {
    it(`${node}: white on transparent, 40 by 60`, () => {
      const svg = read('icons', `tabular-${node}.svg`);
      assert.match(svg, /width="40" height="60" viewBox="0 0 40 60"/);
      const colours = [...svg.matchAll(/(?:fill|stroke)="([^"]+)"/g)].map((match) => match[1]);
      assert.ok(colours.every((colour) => colour === '#fff' || colour === 'none'));
      assert.equal(loadDialogs('en-US').dialogs[node].icon, `tabular-${node}.svg`);
    });
  }
});
