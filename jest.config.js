/** Jest runs the .ts files as they are: Node strips the types, nothing is transformed. */
export default {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.shoal'],
  testTimeout: 30_000,
};
