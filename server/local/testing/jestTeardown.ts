export { teardown as default } from './jestSetup.ts';
