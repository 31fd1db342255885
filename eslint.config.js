import regexp from 'eslint-plugin-regexp'
import tseslint from 'typescript-eslint'

const PRODUCT = ['gateway/**/*.ts', 'gateway/**/*.tsx', 'policies/**/*.ts', 'cache/**/*.ts', 'versioning/**/*.ts']

export default tseslint.config(
  { ignores: ['dist', 'dist-docs', 'data', '.cache', '.tap'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: PRODUCT,
    extends: [...tseslint.configs.recommendedTypeCheckedOnly],
    rules: {
      // The objects here are closures: no method has a `this` to lose.
      '@typescript-eslint/unbound-method': 'off',
      // An async function without await says that its failure is a rejection, as that of the others of its type.
      '@typescript-eslint/require-await': 'off',
      // JSX is text here (hono/jsx), and names beside `string` tell which it is most often.
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      // A step may be here already (maybe-async.ts).
      '@typescript-eslint/await-thenable': 'off',
      // Of the libraries' types, and of what they reject with; none may be added.
      '@typescript-eslint/prefer-promise-reject-errors': 'warn',
      '@typescript-eslint/no-unnecessary-type-assertion': 'warn',
      ...Object.fromEntries(
        ['assignment', 'argument', 'call', 'member-access', 'return'].map((name) => [
          `@typescript-eslint/no-unsafe-${name}`,
          'warn',
        ]),
      ),
    },
  },
  {
    files: PRODUCT,
    plugins: { regexp },
    // What strangers send is read in linear time (design 7).
    rules: { 'regexp/no-super-linear-backtracking': 'error', 'regexp/no-super-linear-move': 'error' },
  },
)
