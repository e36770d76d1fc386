/**
 * Jest runs the .ts files as they are: Node strips the types, nothing is transformed.
 * `*.db.test.ts` share one MariaDB and one Redis; `*.system.test.ts` and contract-tests/ start whole services.
 */
const shared = {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.shoal'],
};

const system = ['<rootDir>/**/*.system.test.ts', '<rootDir>/contract-tests/**/*.test.ts'];

export default {
  testTimeout: 30_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.(db|system)\\.test\\.ts$', '<rootDir>/contract-tests/'],
    },
    {
      ...shared,
      displayName: 'database',
      testMatch: ['<rootDir>/**/*.db.test.ts'],
      globalSetup: '<rootDir>/server/local/testing/jestSetup.ts',
      globalTeardown: '<rootDir>/server/local/testing/jestTeardown.ts',
    },
    { ...shared, displayName: 'system', testMatch: system },
  ],
};
