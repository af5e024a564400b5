/* What a package must hold to work, where part of it is made by the build. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What is copied into dist/ as it is: its place there, by its place in the checkout. */
export const COPIED = {
  'nodes/locales': 'nodes/locales',
  'plugins/locales': 'plugins/locales',
  'plugins/models.html': 'plugins/models.html',
  icons: 'nodes/icons',
};

/**
 * The paths, relative to `root`, of files that package.json, a dialog or a source file asks for and that are not there.
 * `exists` may be given by a test.
 */
export function missingFiles(root, exists = existsSync) {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const { nodes, plugins } = manifest['node-red'];
  const dialogs = Object.values(nodes).map((file) => file.replace(/\.js$/, '.html'));
  const pages = [...dialogs, ...Object.values(plugins)];
  const asked = [
    ...[manifest.main, manifest.types, ...Object.values(manifest.bin), ...Object.values(nodes), ...pages],
    // Of a pattern, the folder.
    ...manifest.files.filter((file) => !file.startsWith('!')).map((file) => file.replace(/\/\*.*$/, '')),
    ...pages.flatMap((page) => askedByPage(root, page, manifest.name)),
    ...['src', 'nodes'].flatMap((folder) =>
      filesBelow(root, folder)
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.as.ts'))
        .map((file) => `dist/${file.replace(/(\.d)?\.ts$/, '.js')}`),
    ),
    ...Object.entries(COPIED).flatMap(([from, to]) =>
      filesBelow(root, from).map((file) => `dist/${to}${file.slice(from.length)}`),
    ),
  ];
  return [...new Set(asked)].filter((file) => !exists(path.join(root, file))).sort();
}

/** The resources and icons that a dialog or a plugin names. */
function askedByPage(root, page, name) {
  const file = path.join(root, page);
  const html = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const resources = [...html.matchAll(new RegExp(`resources/${name}/([\\w.-]+)`, 'g'))];
  const icons = [...html.matchAll(/\bicon: '([\w-]+\.svg)'/g)];
  return [
    ...resources.map(([, resource]) => `resources/${resource}`),
    ...icons.map(([, icon]) => `${path.posix.dirname(page)}/icons/${icon}`),
  ];
}

/** Paths of files, relative to `root`, in a folder or of the file itself. */
function filesBelow(root, place) {
  const found = readdirSync(path.join(root, path.dirname(place)), { withFileTypes: true }).find(
    ({ name }) => name === path.basename(place),
  );
  return found?.isDirectory() === true
    ? readdirSync(path.join(root, place), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) =>
          path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
        )
    : [place];
}
