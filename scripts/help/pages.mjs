/*
 * The help pages of the nodes. Their templates are nodes/locales/<language>/<node>.html; what several of them say alike
 * stands once, in three languages, and is named by a line of its own: {{message.NAME}}, a property of the message;
 * {{field.NAME}}, a field of the dialog; {{paragraph.NAME}} (all of shared.json); {{errors}}, the node's codes (errors.json).
 * {{shapes}} within a text is what messages are recognised as, {{outputs}} the output types of predict, {{outputs.TASK}} those
 * of a task in the words of the dialog.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';

const read = (...parts) => JSON.parse(readFileSync(path.join(...parts), 'utf8'));
const shared = read(import.meta.dirname, 'shared.json');
/** What each error code means, the nodes that raise it, and its row of the README, in the order of the README. */
export const errors = read(import.meta.dirname, 'errors.json');

const templates = path.join(root, 'nodes', 'locales');

/** A word as the dialog of a node has it: from its own catalogue, else from the one that all share. */
function word(language, node, key) {
  for (const catalogue of [node, 'config']) {
    const words = read(templates, language, `${catalogue}.json`);
    const found = key.split('.').reduce((inner, part) => inner?.[part], words);
    if (found !== undefined) {
      return found;
    }
  }
  throw new Error(`No catalogue in ${language} has ${key}, which the help of ${node} names.`);
}

/** The lines of an entry; in its text, {label.table} is a word of the dialog. */
function entry(kind, name, language, node) {
  const found = shared[kind]?.[name];
  if (found === undefined) {
    throw new Error(`shared.json has no ${kind} ${name}, which the help of ${node} names.`);
  }
  const text = found[language].replace(/\{(\w+\.\w+)\}/g, (_, key) => word(language, node, key));
  if (kind === 'paragraph') {
    return [`<p data-help="${name}">${text}</p>`];
  }
  const isOptional = kind === 'message' && found.always !== true;
  const term =
    kind === 'message'
      ? `${name} <span class="property-type">${found.type}</span>`
      : found.labels.map((key) => word(language, node, `label.${key}`)).join(language === 'ja' ? '、' : ', ');
  return [`<dt${isOptional ? ' class="optional"' : ''}>${term}</dt>`, `<dd>${text}</dd>`];
}

/** The codes of a node, each with its meaning. */
function codes(language, node) {
  return Object.entries(errors)
    .filter(([, { nodes }]) => nodes.includes(node))
    .map(
      ([code, texts]) =>
        `<li><code>${code}</code>: ${texts.only?.[node]?.[language] ?? texts[language]}</li>`,
    );
}

/** What the sources of shapes are called; "InfluxDB points" and "prices" say what comes, not from where. */
function sourcesOf(shapes, language) {
  const names = [...new Set(shapes.map(({ name }) => name))];
  return names
    .filter((name) => name !== 'prices' && !/ [a-z]+$/.test(name))
    .join(language === 'ja' ? '、' : ', ');
}

function page(language, node, { shapes, outputs }) {
  const template = readFileSync(path.join(templates, language, `${node}.html`), 'utf8');
  return template
    .replaceAll('class="message-properties"', 'class="message-properties tabular-help"')
    .replace(/^( *)\{\{(\w+)(?:\.([\w-]+))?\}\}$/gm, (_, indent, kind, name) =>
      (kind === 'errors' ? codes(language, node) : entry(kind, name, language, node))
        .map((line) => indent + line)
        .join('\n'),
    )
    .replace('{{shapes}}', () => sourcesOf(shapes, language))
    .replace('{{outputs}}', () =>
      Object.keys(outputs)
        .map((name) => `<code>${name}</code>`)
        .join(language === 'ja' ? '、' : ', '),
    )
    .replace(/\{\{outputs\.(\w+)\}\}/g, (_, task) =>
      Object.entries(outputs)
        .filter(([, output]) => output.task === task)
        .map(([name]) => `<i>${word(language, node, `outputType.${name}`)}</i>`)
        .join(language === 'ja' ? '、' : ', '),
    );
}

/**
 * All pages: {file, html}, the file relative to nodes/locales.
 * @param known `shapes` of messages (src/messages/shapes), and `outputs` (src/wire/vocabulary)
 */
export function helpPages(known) {
  return readdirSync(templates).flatMap((language) =>
    readdirSync(path.join(templates, language))
      .filter((file) => file.endsWith('.html'))
      .map((file) => ({
        file: path.join(language, file),
        html: page(language, path.basename(file, '.html'), known),
      })),
  );
}
