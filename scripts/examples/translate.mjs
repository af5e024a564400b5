import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The folders within examples/ that the Import dialog shows, by language. */
export const FOLDERS = { de: 'Deutsch', ja: '日本語' };

/** English text → translation. */
export function catalogueOf(language) {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'locales', `${language}.json`), 'utf8'));
}

/** The properties of a node that people read. Templates, function code and JSONata stay English: they are programs. */
export function textsOf(node) {
  if (node.type === 'tab') {
    return ['label', 'info'];
  }
  // A fit node without a model name gives its own name to the model, which other nodes refer to.
  const isModel = node.type === 'tabular-fit' && !node.model;
  const shown = node.type.startsWith('ui-') ? ['label', 'title', 'xAxisLabel', 'yAxisLabel', 'units'] : [];
  return [...(isModel ? [] : ['name']), 'info', ...shown].filter(
    (property) => typeof node[property] === 'string' && node[property].trim() !== '',
  );
}

/**
 * The nodes of an example in another language: their texts from the catalogue, and ids of their own, so that both
 * languages can be imported side by side. `missing` is told what the catalogue lacks.
 */
export function translated(nodes, language, catalogue, missing) {
  const ids = new Map(
    nodes.map(({ id }) => [id, createHash('sha256').update(`${language}/${id}`).digest('hex').slice(0, 16)]),
  );
  const withIds = (value) => {
    if (typeof value === 'string') {
      return ids.get(value) ?? value;
    }
    if (Array.isArray(value)) {
      return value.map(withIds);
    }
    return value !== null && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [ids.get(key) ?? key, withIds(inner)]))
      : value;
  };
  return nodes.map((node) => {
    const other = withIds(node);
    for (const property of textsOf(node)) {
      if (catalogue[node[property]] === undefined) {
        missing(node[property]);
      } else {
        other[property] = catalogue[node[property]];
      }
    }
    return other;
  });
}
