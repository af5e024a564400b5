import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { build } from 'esbuild';

import { NODE_SETTINGS, type Setting } from '../../doors/settings';
import { ERROR_CODES } from '../../doors/wire';
import { catalogue, labels, loadDialogs, type NodeName, NODES } from '../../helpers/dialogs';

/*
 * The help of each node against what the node is: the dialog's properties by their labels, the message's properties
 * and the error codes by the code that a node reaches.
 */
const root = path.resolve(__dirname, '../../..');
const dist = path.join(root, 'dist');
const LANGUAGES = ['en-US', 'de', 'ja'];
type FlowNode = Exclude<NodeName, 'config'>;
const FLOW_NODES = NODES.filter((node): node is FlowNode => node !== 'config');

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

/**
 * The code that the modules of each node reach, function by function: bundled, with what nobody calls shaken off and
 * without comments. Files that match leaveOut stay outside. One build reads each file once for all nodes.
 */
async function reachedCode(
  modulesOf: (node: FlowNode) => string[],
  leaveOut: RegExp,
): Promise<Record<FlowNode, string>> {
  const { outputFiles } = await build({
    entryPoints: FLOW_NODES.map((node) => ({ in: `node:${node}`, out: node })),
    outdir: root,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    legalComments: 'none',
    minifySyntax: true, // dead branches go
    logLevel: 'error',
    plugins: [
      {
        name: 'nodes begin, the rest is called',
        setup: (bundle) => {
          bundle.onResolve({ filter: /^node:/ }, ({ path: wanted, kind }) =>
            kind === 'entry-point' ? { path: wanted.slice(5), namespace: 'entry' } : undefined,
          );
          bundle.onLoad({ filter: /./, namespace: 'entry' }, ({ path: node }) => ({
            // A node registers itself; of any other module each export may be called.
            contents: modulesOf(node as FlowNode)
              .map((module) => `${module.startsWith('nodes/') ? 'import' : 'export * from'} './${module}';`)
              .join('\n'),
            resolveDir: root,
          }));
          bundle.onResolve({ filter: /^\./ }, async ({ path: wanted, kind, resolveDir, pluginData }) => {
            if (pluginData === 'resolving') {
              return undefined;
            }
            const found = await bundle.resolve(wanted, { kind, resolveDir, pluginData: 'resolving' });
            const file = path.relative(root, found.path);
            return leaveOut.test(file)
              ? { path: wanted, external: true, sideEffects: false }
              : { path: found.path, errors: found.errors, sideEffects: file.startsWith('nodes/') };
          });
        },
      },
    ],
  });
  const texts = outputFiles.map(({ path: file, text }) => [path.basename(file, '.js'), text]);
  return Object.fromEntries(texts) as Record<FlowNode, string>;
}

/** A node's own modules: its file, and its folder of the runtime, which is loaded with the first node of its type. */
const ownModules = (node: NodeName): string[] => [
  `nodes/${node}`,
  ...(fs.existsSync(path.join(root, 'src/runtime', node)) ? [`src/runtime/${node}/index`] : []),
];

let runtimeCode: ReturnType<typeof reachedCode> | undefined;

/** What a node reads from a message or sets on it, by its settings and by the names in its code. */
async function messageProperties(node: FlowNode): Promise<Set<string>> {
  runtimeCode ??= reachedCode(ownModules, /^src\/(?!runtime\/)|config-state|use-config|default-service/);
  const { [node]: code } = await runtimeCode;
  const found = new Set<string>(
    Object.values<Setting>(NODE_SETTINGS[node]).flatMap(({ message = [] }) => message),
  );
  for (const pattern of [
    // An error names msg.then, which no message should have.
    /\bmsg\.(?!then\b)([a-z]\w*)/g,
    /\bmsg\["(\w+)"\]/g,
    /\bmsg\[[^\]]*\? "(\w+)" : "(\w+)"\]/g,
    /\breadProperty\([^;]*?"(\w+)", msg\)/g,
  ]) {
    for (const [, ...names] of code.matchAll(pattern)) {
      for (const name of names) {
        found.add(name);
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
const REACHES: Record<FlowNode, { work: string; calls: string[] }> = {
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
  fit: ['columns.missing'], // of rows held back: a warning
  anomaly: ['not_found'], // told to the sidebar
  advise: ['target.missing', 'file.unreadable'], // it asks for no scores, and reads no file
  // A message without a table may bring a truth, no file is read, and no field names a folder.
  watch: ['table.empty', 'file.unreadable', 'storage.failed'],
  cost: ['cost.exceeded'], // the bound is the predict node's
};

let allCode: ReturnType<typeof reachedCode> | undefined;

/** The codes that a node may raise, in their order. */
async function raised(node: FlowNode): Promise<string[]> {
  const { calls } = REACHES[node];
  allCode ??= reachedCode(
    (one) => [...ownModules(one), `src/${REACHES[one].work}`],
    /config-state|use-config|default-service|connection\/(connection|index)\.ts|src\/(service|learner|client)\/|service-error\.ts/,
  );
  const { [node]: code } = await allCode;
  const all = new Set<string>([...ERROR_CODES.filter((one) => code.includes(`"${one}"`)), ...calls]);
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
    it(`${node}: describes each property of the message that it reads or sets, and no other`, async () => {
      const { inputs, outputs } = lists(node, help('en-US', node));
      const described = new Set([...messageTerms(inputs), ...messageTerms(outputs)]);
      const found = (await messageProperties(node)).add('payload');
      for (const name of NOT_FOR_MESSAGE[node] ?? []) {
        assert.ok(found.delete(name), name);
      }
      assert.deepEqual([...described].sort(), [...found].sort());
    });

    it(`${node}: names each error code that it may raise, and no other`, async () => {
      const described = [...help('en-US', node).matchAll(/<li><code>([a-z._]+)<\/code>/g)].map(
        (match) => match[1]!,
      );
      assert.deepEqual(described.sort(), await raised(node));
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

  it('says what several pages have alike from one text, which two of them name at least', () => {
    const shared = JSON.parse(
      fs.readFileSync(path.join(root, 'scripts', 'help', 'shared.json'), 'utf8'),
    ) as object;
    const entries = Object.entries(shared).flatMap(([kind, named]) =>
      Object.keys(named as object).map((name) => `{{${kind}.${name}}}`),
    );
    const templates = (language: string) =>
      NODES.map((node) =>
        fs.readFileSync(path.join(root, 'nodes', 'locales', language, `${node}.html`), 'utf8'),
      );
    for (const language of LANGUAGES) {
      const pages = templates(language);
      assert.deepEqual(
        entries.filter((entry) => pages.filter((page) => page.includes(entry)).length < 2),
        [],
        language,
      );
      for (const node of NODES) {
        assert.doesNotMatch(help(language, node), /\{\{/, `${node}, ${language}`);
      }
    }
  });

  it('together name every code of the closed table', async () => {
    const named = new Set((await Promise.all(FLOW_NODES.map((node) => raised(node)))).flat());
    assert.deepEqual(
      ERROR_CODES.filter((one) => !named.has(one)),
      [],
    );
  });
});
