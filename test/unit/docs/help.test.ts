import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { NODE_SETTINGS, type Setting } from '../../doors/settings';
import { ERROR_CODES } from '../../doors/wire';
import { catalogue, labels, loadDialogs, type NodeName, NODES } from '../../helpers/dialogs';

/*
 * The help of each node against what the node is: the dialog's properties by their labels, the message's properties
 * and the error codes by the code that a node reaches.
 */
const dist = path.resolve(__dirname, '../../../dist');
const LANGUAGES = ['en-US', 'de', 'ja'];
const FLOW_NODES = NODES.filter((node) => node !== 'config');

const help = (language: string, node: NodeName): string =>
  fs.readFileSync(path.join(dist, 'nodes', 'locales', language, `${node}.html`), 'utf8');

/** The lists of a help text in their order: inputs, properties, outputs; a config node has properties only. */
function lists(node: NodeName, text: string): Record<'inputs' | 'properties' | 'outputs', string> {
  const found = [...text.matchAll(/<dl[^>]*>([\s\S]*?)<\/dl>/g)].map((match) => match[1]!);
  assert.equal(found.length, node === 'config' ? 1 : 3, node);
  const [inputs, properties, outputs] = node === 'config' ? ['', ...found, ''] : found;
  return { inputs: inputs!, properties: properties!, outputs: outputs! };
}

const messageTerms = (list: string) => [...list.matchAll(/<dt[^>]*>(\w+) <span/g)].map((match) => match[1]!);
/** Several labels may stand in one term, and a label may have a comma of its own. */
const words = (text: string) => text.split(/, |、/);
const labelTerms = (list: string) =>
  [...list.matchAll(/<dt>(.*?)<\/dt>/g)].flatMap((match) => words(match[1]!));

/** The built modules that these ones load, themselves among them. */
function closure(files: string[], leaveOut: RegExp): string[] {
  const seen = new Set<string>();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file) || leaveOut.test(file)) {
      continue;
    }
    seen.add(file);
    // load('.') is the folder of a file that is loaded with its first node.
    for (const [, target, folder] of fs
      .readFileSync(file, 'utf8')
      .matchAll(/(?:require|import)\(["'](\.[^"']+)["']\)|\bload\('(\.)'\)/g)) {
      const found = path.resolve(path.dirname(file), (target ?? folder)!);
      const choices = [found, `${found}.js`, path.join(found, 'index.js')];
      waiting.push(choices.find((choice) => choice.endsWith('.js') && fs.existsSync(choice))!);
    }
  }
  return [...seen];
}

const code = (file: string): string =>
  fs
    .readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');

/** What a node reads from a message or sets on it, by its settings and by the names in its code. */
function messageProperties(node: NodeName): Set<string> {
  const files = closure(
    [path.join(dist, 'nodes', `${node}.js`)],
    /dist\/src\/(?!runtime\/)|config-state|use-config|default-service/,
  );
  const found = new Set<string>(
    Object.values<Setting>(NODE_SETTINGS[node]).flatMap(({ message = [] }) => message),
  );
  for (const text of files.map(code)) {
    for (const pattern of [
      // An error names msg.then, which no message should have.
      /\bmsg\.(?!then\b)([a-z]\w*)/g,
      /\bmsg\['(\w+)'\]/g,
      /\bmsg\[[^\]]*\? '(\w+)' : '(\w+)'\]/g,
      /\breadProperty\)\([^;]*?'(\w+)', msg\)/g,
    ]) {
      for (const [, ...names] of text.matchAll(pattern)) {
        for (const name of names) {
          found.add(name);
        }
      }
    }
  }
  return found;
}

/** In the code that a node reaches, but not for this node. */
const NOT_FOR_MESSAGE: Partial<Record<NodeName, string[]>> = {
  cost: ['fitted_train_set_id'], // a bare id tells neither rows nor columns
  anomaly: ['outcome', 'series', 'time', 'train'], // what is for a series node says nothing here
};

/** What each node calls at the service raises these, beyond what the node's own code names. */
const ANY_CALL = [
  'engine.unsupported',
  'auth.unauthorized',
  'auth.forbidden',
  'not_found',
  'validation.failed',
  'rate.limit.exceeded',
  'service.unavailable',
  'service.timeout',
  'response.invalid',
  'storage.failed',
  'closed',
  'internal',
];
const AN_UPLOAD = ['upload.failed', 'upload.expired', 'duplicate', 'limit.exceeded'];
const REACHES: Record<Exclude<NodeName, 'config'>, { work: string; calls: string[] }> = {
  limits: { work: 'models/service', calls: ANY_CALL },
  upload: { work: 'connection/upload', calls: [...ANY_CALL, ...AN_UPLOAD] },
  fit: {
    work: 'train/train',
    calls: [...ANY_CALL, ...AN_UPLOAD, 'fit.failed', 'budget.exceeded', 'rollback.impossible'],
  },
  predict: {
    work: 'predict/predictor',
    calls: [...ANY_CALL, ...AN_UPLOAD, 'predict.unknown', 'model.unknown', 'budget.exceeded'],
  },
  cost: { work: 'models/service', calls: ANY_CALL },
  series: { work: 'series/index', calls: ['table.invalid', 'closed', 'internal'] },
  anomaly: { work: 'anomaly/index', calls: ['table.invalid', 'closed', 'internal'] },
  advise: {
    work: 'predict/predictor',
    calls: [...ANY_CALL, ...AN_UPLOAD, 'predict.unknown', 'model.unknown', 'budget.exceeded'],
  },
  watch: { work: 'watch/index', calls: ['table.invalid', 'closed', 'internal'] },
};
/** Codes in the code that a node reaches which cannot come out of it. */
const NOT_RAISED: Partial<Record<NodeName, string[]>> = {
  limits: ['cost.exceeded'], // they are free
  upload: ['cost.exceeded', 'predict.unknown'], // it predicts nothing
  fit: ['columns.missing', 'cost.exceeded', 'predict.unknown'], // of rows held back: a warning
  anomaly: ['target.missing', 'not_found'], // the second is told to the sidebar
  advise: ['target.missing', 'file.unreadable'], // it asks for no scores, and reads no file
  watch: ['table.empty', 'file.unreadable'], // a message without a table may bring a truth, and no file is read
  cost: ['cost.exceeded', 'model.unknown'], // the bound and the model are the predict node's
};

function raised(node: Exclude<NodeName, 'config'>): string[] {
  const { work, calls } = REACHES[node];
  const files = closure(
    [path.join(dist, 'nodes', `${node}.js`), path.join(dist, 'src', `${work}.js`)],
    /config-state|use-config|default-service|connection\/(connection|index)\.js|src\/(service|learner|client)\/|service-error\.js/,
  );
  const texts = files.map(code);
  const named = ERROR_CODES.filter((one) => texts.some((text) => text.includes(`'${one}'`)));
  const all = new Set<string>([...named, ...calls]);
  for (const one of NOT_RAISED[node] ?? []) {
    assert.ok(all.delete(one), one);
  }
  return [...all].sort();
}

describe('the help of each node', () => {
  for (const language of LANGUAGES) {
    const { dialogs } = loadDialogs(language);
    for (const node of NODES) {
      it(`${node}, ${language}: describes each field of the dialog under its own label, and nothing else`, () => {
        const fields = labels(dialogs[node].template);
        const wanted = [...dialogs[node].properties, ...dialogs[node].credentials].filter(
          (name) => !['name', 'tableType', 'keyType'].includes(name),
        );
        for (const name of wanted) {
          assert.ok(fields.get(name)?.length, `no label for ${name}`);
        }
        const texts = wanted.flatMap((name) => fields.get(name)!);
        const described = labelTerms(lists(node, help(language, node)).properties);
        if (node === 'config') {
          texts.push(catalogue(language, node).get('label.test')!);
        }
        assert.deepEqual([...described].sort(), texts.flatMap(words).sort());
      });
    }
  }

  for (const node of FLOW_NODES) {
    it(`${node}: describes each property of the message that it reads or sets, and no other`, () => {
      const { inputs, outputs } = lists(node, help('en-US', node));
      const described = new Set([...messageTerms(inputs), ...messageTerms(outputs)]);
      const found = messageProperties(node).add('payload');
      for (const name of NOT_FOR_MESSAGE[node] ?? []) {
        assert.ok(found.delete(name), name);
      }
      assert.deepEqual([...described].sort(), [...found].sort());
    });

    it(`${node}: names each error code that it may raise, and no other`, () => {
      const described = [...help('en-US', node).matchAll(/<li><code>([a-z._]+)<\/code>/g)].map(
        (match) => match[1]!,
      );
      assert.deepEqual(described.sort(), raised(node));
    });

    it(`${node}: says what its status shows`, () => {
      for (const [language, word] of [
        ['en-US', 'status'],
        ['de', 'Status'],
        ['ja', 'ステータス'],
      ] as const) {
        const details = help(language, node).split('<ul>')[0]!.split('</dl>').at(-1)!;
        assert.ok(details.includes(word), language);
      }
    });
  }

  it('together name every code of the closed table', () => {
    const named = new Set(FLOW_NODES.flatMap((node) => raised(node)));
    assert.deepEqual(
      ERROR_CODES.filter((one) => !named.has(one)),
      [],
    );
  });
});
