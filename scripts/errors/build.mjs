/*
 * npm run errors: writes the list of error codes of each node's help, in three languages, and the table of the
 * README from codes.json, in the order of the codes in src/wire/service-error.ts. With --check it only says what
 * is not as it would be written.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { LANGUAGES, writeParts } from '../lib/written-parts.mjs';

const codes = JSON.parse(readFileSync(path.join(import.meta.dirname, 'codes.json'), 'utf8'));
const NODES = [...new Set(Object.values(codes).flatMap(({ nodes }) => nodes))];

function helpList(language, node) {
  const items = Object.entries(codes)
    .filter(([, { nodes }]) => nodes.includes(node))
    .map(([code, texts]) => {
      const text = texts.only?.[node]?.[language] ?? texts[language];
      return `        <li><code>${code}</code>: ${text}</li>\n`;
    });
  return items.join('');
}

function readmeTable() {
  return Object.entries(codes)
    .map(([code, { readme }]) => `| \`${code}\` | ${readme} |\n`)
    .join('');
}

const HELP_ITEMS = /(?: {8}<li><code>[a-z._]+<\/code>.*<\/li>\n)+/;
const README_ROWS = /(?<=^\| code \|.*\n\|---\|---\|\n)(?:\| `[a-z._]+` \| .* \|\n)+/m;

writeParts(
  [
    ...LANGUAGES.flatMap((language) =>
      NODES.map((node) => ({
        file: `nodes/locales/${language}/${node}.html`,
        place: HELP_ITEMS,
        text: helpList(language, node),
      })),
    ),
    { file: 'README.md', place: README_ROWS, text: readmeTable() },
  ],
  'npm run errors',
);
