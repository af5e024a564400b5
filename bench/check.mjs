/*
 * npm run lint:benches: whether each bench would start. It loads what the files of bench/ load, but not these files, which
 * would begin to measure, and looks for each name that they take from it. Packages are left out: the peers may not be
 * installed. dist/ must be built.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import ts from 'typescript';

const here = import.meta.dirname;

/** What a file takes from another: `{ specifier, names }`, read from its imports and from its calls of a `require`. */
function takenBy(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const taken = [];
  /** The names of modules that were taken as a whole, with the names that are read from them. */
  const whole = new Map();
  const visit = (node) => {
    if (ts.isImportDeclaration(node) && !node.importClause?.isTypeOnly) {
      const bindings = node.importClause?.namedBindings;
      const elements = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
      const names = elements
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .map(({ name, propertyName }) => (propertyName ?? name).text);
      taken.push({ specifier: node.moduleSpecifier.text, names, required: false });
    } else if (ts.isVariableDeclaration(node) && node.initializer && ts.isCallExpression(node.initializer)) {
      const literal = node.initializer.arguments
        .flatMap((argument) => [argument, ...argument.getChildren()])
        .find((argument) => ts.isStringLiteral(argument) && /^\.\.?\/.*dist\//.test(argument.text));
      if (literal !== undefined) {
        const names = ts.isObjectBindingPattern(node.name)
          ? node.name.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
          : [];
        taken.push({ specifier: literal.text, names, required: true });
        if (ts.isIdentifier(node.name)) {
          whole.set(node.name.text, names);
        }
      }
    } else if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      whole.get(node.expression.text)?.push(node.name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return taken.filter(({ specifier }) => specifier.startsWith('.'));
}

const missing = [];
let looked = 0;
for (const name of readdirSync(here, { recursive: true }).sort()) {
  if (!/\.(mjs|ts)$/.test(name) || name.startsWith('node_modules') || name === 'check.mjs') {
    continue;
  }
  const file = path.join(here, name);
  const require = createRequire(file);
  for (const { specifier, names, required } of takenBy(file)) {
    let module;
    try {
      const target = path.resolve(path.dirname(file), specifier);
      module = required ? require(specifier) : await import(pathToFileURL(target).href);
    } catch (error) {
      missing.push(`bench/${name}: ${specifier} does not load: ${error.message}`);
      continue;
    }
    for (const wanted of names) {
      looked++;
      if (!(wanted in module) && !(wanted in (module.default ?? {}))) {
        missing.push(`bench/${name}: ${wanted} is not in ${specifier}`);
      }
    }
  }
}
for (const line of missing) {
  console.error(line);
}
if (missing.length === 0) {
  console.log(`The benches find what they load, and the ${looked} names that they take from it.`);
}
process.exit(missing.length > 0 ? 1 : 0);
