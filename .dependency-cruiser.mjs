/*
 * The import rules (docs/architecture.md): each folder of src/ with the folders that it may import, itself aside.
 * A folder named without a sub-folder stands for the files at its root and all below it. Types count as imports.
 * `npm run lint` refuses the rest, and every cycle between files or folders.
 */
const BELOW_MODELS = ['src/settings', 'src/client', 'src/table', 'src/wire', 'src/metrics', 'src/util'];
const LAYERS = {
  nodes: ['src/runtime', 'src/service'],
  'src/runtime': [
    'src/advise',
    'src/anomaly',
    'src/series',
    'src/messages',
    'src/watch',
    'src/connection',
    'src/predict',
    'src/models',
    'src/settings',
    'src/client',
    'src/table',
    'src/wire',
    'src/metrics',
    'src/util',
  ],
  'src/connection': ['src/train', 'src/predict', 'src/models', ...BELOW_MODELS],
  'src/train': ['src/predict', 'src/models', ...BELOW_MODELS],
  'src/predict': ['src/models', ...BELOW_MODELS],
  'src/models': BELOW_MODELS,
  'src/settings': ['src/client', 'src/table', 'src/wire', 'src/util'],
  'src/client': ['src/wire', 'src/util'],
  'src/table': ['src/wire', 'src/util'],
  'src/wire': ['src/util'],
  'src/service': ['src/learner', 'src/table', 'src/wire', 'src/util'],
  'src/learner': ['src/metrics'],
  'src/metrics': [],
  'src/series': ['src/table', 'src/wire', 'src/util'],
  'src/messages': ['src/table', 'src/wire', 'src/util'],
  'src/watch': ['src/models', 'src/table', 'src/wire', 'src/metrics', 'src/util'],
  'src/advise': [
    'src/connection',
    'src/predict',
    'src/models',
    'src/settings',
    'src/learner/math',
    'src/table',
    'src/wire',
    'src/metrics',
    'src/util',
  ],
  'src/anomaly': [
    'src/series/time-and-key.ts',
    'src/learner/math',
    'src/metrics',
    'src/table',
    'src/wire',
    'src/util',
  ],
  'src/util': [],
};

/**
 * Inside a layer: each sub-folder with those beside it that it may import, and all below them; `one/*` stands for the
 * files of `one` alone, and a file is named with its `.ts`. All may import the files of GROUND.
 */
const FOLDERS = {
  'src/table': {
    cells: [],
    columns: ['cells'],
    storage: ['cells'],
    text: ['cells'],
    inference: ['cells', 'columns'],
    arrow: ['cells', 'columns', 'storage'],
    csv: ['cells', 'columns', 'storage', 'text'],
    values: ['cells', 'columns', 'arrow', 'text'],
    parquet: ['cells', 'columns', 'arrow', 'storage'],
    encoder: ['cells', 'columns', 'arrow', 'csv', 'inference', 'parquet', 'storage', 'text'],
  },
  'src/learner': {
    math: [],
    kernels: ['math'],
    features: ['math'],
    trees: ['features', 'kernels', 'math'],
    linear: ['features', 'kernels', 'math', 'trees'],
    gaussian: ['features', 'kernels', 'linear', 'math'],
    calibration: ['features', 'math', 'trees'],
    model: ['calibration', 'features', 'gaussian', 'kernels', 'linear', 'math', 'trees'],
    storage: ['calibration', 'features', 'gaussian', 'linear', 'math', 'model', 'trees'],
    explain: ['calibration', 'features', 'gaussian', 'kernels', 'linear', 'math', 'model', 'trees'],
    training: ['calibration', 'features', 'gaussian', 'linear', 'math', 'model', 'trees'],
  },
  'src/runtime': {
    fields: [],
    status: [],
    input: ['fields', 'status'],
    messages: ['status'],
    config: ['fields', 'input', 'status'],
    requests: ['config', 'fields', 'input', 'messages', 'status'],
    anomaly: ['config', 'fields', 'input', 'messages', 'series', 'status', 'watch'],
    series: ['fields', 'input', 'messages', 'status'],
    sidebar: ['advise', 'config', 'requests', 'watch'],
    watch: ['config', 'fields', 'input', 'messages', 'status'],
  },
  'src/messages': {
    shapes: [],
  },
  'src/anomaly': {
    method: [],
  },
  'src/service': {
    http: [],
    store: [],
    work: ['store'],
    routes: ['http', 'store', 'work'],
  },
};

/** Files at the root of a layer that all of its sub-folders may import: its types and errors. */
const GROUND = {
  'src/table': [],
  'src/learner': ['tuned', 'types', 'version'],
  'src/runtime': ['node-red', 'load', 'node-runtime', 'paths', 'secrets', 'lazy', 'model-changed'],
  'src/messages': ['types'],
  'src/anomaly': [],
  'src/service': [
    'options',
    'rate-limit',
    'refusal',
    'service-metrics',
    'slow-body',
    'upload-target',
    'version',
    'work/jobs',
  ],
};

function rule(from, allowed, comment) {
  return {
    name: `${from} imports only what stands below it`,
    comment,
    severity: 'error',
    from: { path: `^${from}/` },
    to: { path: '^(src|nodes)/', pathNot: allowed.map((folder) => `^${folder}`) },
  };
}

const layers = Object.entries(LAYERS).map(([layer, below]) =>
  rule(
    layer,
    [`${layer}/`, ...below.map((one) => (one.endsWith('.ts') ? `${one}$` : `${one}/`))],
    `may import: ${below.join(', ') || 'nothing'}`,
  ),
);

/** The pattern of what an entry of FOLDERS stands for. */
function within(entry) {
  if (entry.endsWith('.ts')) {
    return `${entry}$`;
  }
  return entry.endsWith('/*') ? entry.replace('*', '[^/]+$') : `${entry}/`;
}

const folders = Object.entries(FOLDERS).flatMap(([layer, table]) =>
  Object.entries(table).map(([folder, siblings]) =>
    rule(
      `${layer}/${folder}`,
      [
        `(?!${layer}/)`,
        ...[folder, ...siblings].map((one) => `${layer}/${within(one)}`),
        ...GROUND[layer].map((file) => `${layer}/${file}[.]ts$`),
      ],
      `may import of ${layer}: ${[...siblings, ...GROUND[layer]].join(', ') || 'nothing'}`,
    ),
  ),
);

export default {
  forbidden: [
    ...layers,
    ...folders,
    { name: 'no cycle of files', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no cycle of folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/.*/' },
      to: { circular: true },
    },
    {
      name: 'only the router knows the routes of the service',
      severity: 'error',
      from: { path: '^src/service/', pathNot: '^src/service/(router[.]ts$|routes/)' },
      to: { path: '^src/service/routes/', pathNot: 'context[.]ts$' },
    },
    {
      name: 'only runtime knows Node-RED',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/runtime/' },
      to: { path: 'node_modules/(@node-red|node-red)/|^(@node-red/|node-red$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};
