/*
 * One word for one thing: no name is exported from two files of src/ and nodes/ with two definitions. What must
 * share a name is listed here with its reason; an entry that is no longer needed is an error too.
 *
 * And a function says what it does: `countRows`, `readTime`, `fetchCost`. A name that ends in `Of` does not tell whether
 * it reads, computes or asks the service. Folders that still have such names are listed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '..');
/** name → why two files may define it */
const ALLOWED = {
  Label: 'the learner imports no other layer, and a label is the same there as on the wire',
};

/** Where functions may still be named `…Of`. */
const VERBLESS = /^src\/(?:learner|metrics|anomaly|advise|runtime\/anomaly|runtime\/advise)\//;
/** Named by the language, and a type among those of the schemas. */
const GIVEN = new Set(['indexOf', 'valueOf', 'OneOf']);

function parse(file) {
  return ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest);
}

function definedNames(source) {
  const isExported = (node) =>
    node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  return source.statements.filter(isExported).flatMap((statement) => {
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    }
    return statement.name === undefined ? [] : [statement.name.getText(source)];
  });
}

/** Functions and methods whose names end in `Of`. */
function verblessNames(source) {
  const found = [];
  const look = (node) => {
    const isFunction =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      (ts.isVariableDeclaration(node) &&
        node.initializer !== undefined &&
        ts.isArrowFunction(node.initializer));
    const name = isFunction ? (node.name?.getText(source) ?? '') : '';
    if (/[a-z]Of$/.test(name) && !GIVEN.has(name)) {
      found.push(name);
    }
    ts.forEachChild(node, look);
  };
  look(source);
  return found;
}

const places = new Map();
const verbless = [];
for (const folder of ['src', 'nodes']) {
  for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.ts') && !name.endsWith('.as.ts')) {
      const file = path.posix.join(folder, name.replaceAll('\\', '/'));
      const source = parse(file);
      if (!VERBLESS.test(file)) {
        verbless.push(...verblessNames(source).map((one) => `${file}: ${one} does not say what it does.`));
      }
      for (const defined of new Set(definedNames(source))) {
        places.set(defined, [...(places.get(defined) ?? []), file]);
      }
    }
  }
}

const problems = [...places]
  .filter(([name, files]) => files.length > 1 && !(name in ALLOWED))
  .map(([name, files]) => `${name} is exported from ${files.join(' and ')}: one name for one thing.`);
for (const name of Object.keys(ALLOWED)) {
  if ((places.get(name)?.length ?? 0) < 2) {
    problems.push(`${name} is defined once: take it off the list in scripts/check-names.mjs.`);
  }
}
problems.push(...verbless);
for (const problem of problems.sort()) {
  console.error(problem);
}
process.exitCode = problems.length > 0 ? 1 : 0;
