/*
 * npm start: a Node-RED of its own with the demo flow, from a bare clone, on PORT (1880).
 * Its state stays in .node-red/ of this checkout; delete that folder to start fresh.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { buildOnce, installOnce, root } from './lib/prepare.mjs';

const port = Number(process.env.PORT ?? 1880);
if (!Number.isInteger(port) || port < 1 || port > 65535) {
  console.error(`PORT must be a number from 1 to 65535, not "${process.env.PORT}".`);
  process.exit(2);
}

await installOnce();
await buildOnce();

const userDir = path.join(root, '.node-red');
const modules = path.join(userDir, 'node_modules');
const link = path.join(modules, 'node-red-contrib-tabular-prediction');
const flows = path.join(userDir, 'flows.json');
mkdirSync(modules, { recursive: true });
if (!existsSync(link)) {
  symlinkSync(root, link, 'junction');
}
if (!existsSync(flows)) {
  copyFileSync(path.join(root, 'examples', 'Live machine with plots.json'), flows);
}

const settings = path.join(userDir, 'settings.js');
writeFileSync(
  settings,
  `// Written by npm start at every run.
module.exports = {
  uiHost: '127.0.0.1',
  uiPort: ${port},
  flowFile: 'flows.json',
  credentialSecret: false,
  telemetry: { enabled: false, updateNotification: false },
  editorTheme: {
    tours: false,
    projects: { enabled: false },
    page: { scripts: [${JSON.stringify(path.join(root, 'scripts', 'demo', 'first-visit.js'))}] },
  },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};
`,
);

const red = spawn(
  process.execPath,
  [path.join(root, 'node_modules', 'node-red', 'red.js'), '--userDir', userDir, '--settings', settings],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);

/* Said after Node-RED's own last line, so that the addresses are what a newcomer's eyes end on. */
let said = false;
red.stdout.on('data', (text) => {
  process.stdout.write(text);
  if (!said && String(text).includes('Started flows')) {
    said = true;
    console.log(`
  Editor     http://127.0.0.1:${port}/
  Live plots http://127.0.0.1:${port}/dashboard/
  Ctrl-C ends it; its state is in .node-red/
`);
  }
});

/* A terminal sends Ctrl-C to the whole group; a supervisor sends it to us alone. Either way Node-RED ends first. */
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => red.kill(signal));
}
red.on('exit', (code, signal) => {
  process.exitCode = said && (signal === 'SIGINT' || signal === 'SIGTERM') ? 0 : (code ?? 1);
});
