/** What `make check` and `make test` consist of, in the order in which a mistake is cheapest to find. */

export interface Stage {
  name: string;
  /** one line for readers of the log */
  does: string;
  /** arguments for this Node */
  args: readonly string[];
  /** given up, and failed, after this many minutes */
  minutes: number;
}

/** Stages that run a tool and pass or fail as one. */
export const staticStages: readonly Stage[] = [
  {
    name: 'lint',
    does: 'format and lint',
    args: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
    minutes: 3,
  },
  {
    name: 'types',
    does: 'types',
    args: ['node_modules/typescript7/bin/tsc', '--noEmit', '-p', 'tsconfig.json'],
    minutes: 3,
  },
  {
    name: 'generated',
    does: 'generated/ is what openapi/ says',
    args: ['codegen/main.ts', '--check'],
    minutes: 3,
  },
  {
    name: 'imports',
    does: 'imports go one way',
    args: [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      '.',
    ],
    minutes: 3,
  },
  {
    name: 'unused',
    does: 'no unused code or dependencies',
    args: ['node_modules/knip/bin/knip.js'],
    minutes: 3,
  },
];

/** Stages of jest, which count test by test. Whole services have the machine's two cores to themselves. */
export const jestStages: readonly Stage[] = [
  { name: 'unit', does: 'unit tests', args: jest('unit', '--maxWorkers=2'), minutes: 5 },
  {
    name: 'database',
    does: 'tests against MariaDB and Redis',
    args: jest('database', '--maxWorkers=2'),
    minutes: 8,
  },
  {
    name: 'system',
    does: 'tests of whole services: recordings, NFS, clients, kills',
    args: jest('system', '--runInBand'),
    minutes: 20,
  },
];

function jest(project: string, ...more: string[]): string[] {
  const runner = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
  ];
  return [...runner, '--ci', '--selectProjects', project, '--passWithNoTests', ...more];
}
