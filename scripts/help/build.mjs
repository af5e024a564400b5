/*
 * npm run help: writes what the help pages of several nodes have alike, in three languages, from shared.json: the lines
 * of a property of the message or of a field of the dialog, and whole paragraphs (<p data-help="name">). A word such as
 * {label.table} is the dialog's own, from the catalogues. With --check it only says what is not as it would be written.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';
import { LANGUAGES, writeParts } from '../lib/written-parts.mjs';

const shared = JSON.parse(readFileSync(path.join(import.meta.dirname, 'shared.json'), 'utf8'));

const catalogue = (language, node) =>
  JSON.parse(readFileSync(path.join(root, 'nodes', 'locales', language, `${node}.json`), 'utf8'));

/** A word as the dialog of a node has it: from its own catalogue, else from the one that all share. */
function word(language, node, key) {
  for (const words of [catalogue(language, node), catalogue(language, 'config')]) {
    const found = key.split('.').reduce((inner, part) => inner?.[part], words);
    if (found !== undefined) {
      return found;
    }
  }
  throw new Error(`No catalogue in ${language} has ${key}, which the help of ${node} names.`);
}

const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The place of an entry in a help page, up to where its text begins. */
function before({ labels, property, paragraph }, language, node) {
  if (paragraph !== undefined) {
    return `<p data-help="${paragraph}">`;
  }
  const term =
    property === undefined
      ? `<dt>${literal(labels.map((key) => word(language, node, `label.${key}`)).join(language === 'ja' ? '、' : ', '))}</dt>`
      : `<dt(?: class="optional")?>${property} <span[^\n]*</dt>`;
  return `${term}\\n {8}<dd>`;
}

writeParts(
  shared.flatMap((entry) =>
    LANGUAGES.flatMap((language) =>
      entry.nodes.map((node) => ({
        file: `nodes/locales/${language}/${node}.html`,
        place: new RegExp(
          `(?<=${before(entry, language, node)})[^\\n]*(?=</${entry.paragraph === undefined ? 'dd' : 'p'}>\\n)`,
        ),
        text: entry[language].replace(/\{(\w+\.\w+)\}/g, (_, key) => word(language, node, key)),
      })),
    ),
  ),
  'npm run help',
);
