import js from '@eslint/js';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  {
    ignores: [
      'dist/**',
      'coverage/**',
      'node_modules/**',
      '.node-red/**',
      'bench/node_modules/**',
      'resources/models.js',
      'resources/dialogs.js',
      // AssemblyScript, which its own compiler checks.
      'src/learner/kernels/*.as.ts',
    ],
  },
  js.configs.recommended,
  {
    rules: {
      curly: 'error',
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: false }],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...ts.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./src/learner/tsconfig.json', './tsconfig.json', './test/tsconfig.json'],
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
      // There are no enums; looking for them takes a sixth of the time of all rules.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'nodes/**/*.ts'],
    ignores: ['src/runtime/config/http.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          property: 'httpAdmin',
          message: 'A route is a row of src/runtime/editor-routes.ts: behind a permission, deaf to forms.',
        },
      ],
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
