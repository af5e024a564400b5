import js from '@eslint/js';
import globals from 'globals';
import ts from 'typescript-eslint';

/*
 * The house (docs/architecture.md): imports point down only. Each folder names what it may not import;
 * a relative path out of the folder always begins with "../<folder>" or "../src/<folder>".
 */
const rooms = ['runtime', 'scoring', 'client', 'table', 'wire', 'service', 'learner'];
const mayImport = {
  runtime: ['scoring', 'client', 'table', 'wire'],
  scoring: ['client', 'table', 'wire'],
  client: ['wire'],
  table: ['wire'],
  wire: [],
  service: ['learner', 'table', 'wire'],
  learner: [],
};

function importRule(room) {
  const allowed = [room, ...mayImport[room]];
  const group = rooms
    .filter((other) => !allowed.includes(other))
    .flatMap((other) => [`**/${other}`, `**/${other}/**`]);
  const patterns = [
    { group: [...group, '**/nodes/**'], message: `src/${room} may import only ${allowed.join(', ')}.` },
  ];
  if (room !== 'runtime') {
    patterns.push({
      group: ['node-red', '@node-red/*', 'node-red/*'],
      message: 'Nothing below runtime knows Node-RED.',
    });
  }
  return {
    files: [`src/${room}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns }] },
  };
}

export default ts.config(
  { ignores: ['dist/**', 'coverage/**', 'node_modules/**', '.node-red/**', 'bench/node_modules/**'] },
  js.configs.recommended,
  { rules: { curly: 'error' } },
  {
    files: ['**/*.ts'],
    extends: [...ts.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './test/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
      globals: globals.node,
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
    },
  },
  ...rooms.map(importRule),
  {
    files: ['nodes/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['**/src/client/**', '**/src/table/**', '**/src/learner/**'],
              message: 'A node is thin: it goes through runtime.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.js', '**/*.cjs'],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
  },
  {
    // The bodies of function nodes: Node-RED puts the function around them.
    files: ['scripts/examples/*.js'],
    languageOptions: {
      sourceType: 'script',
      parserOptions: { ecmaFeatures: { globalReturn: true } },
      globals: {
        msg: 'readonly',
        env: 'readonly',
        node: 'readonly',
        context: 'readonly',
        flow: 'readonly',
        RED: 'readonly',
      },
    },
  },
);
