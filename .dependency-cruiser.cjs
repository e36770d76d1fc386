/**
 * Which way imports go: domain <- db <- handlers | jobs <- server. Drivers know nothing but the domain's types and
 * their own contract; handlers know no driver. What is tested beside the code may use the services for tests.
 */
const test = '\\.test\\.ts$|^drivers/conformance|^drivers/ganesha/workbench\\.ts$|^server/local/testing/';

/** Files under `from` import nothing of the project but what is under these directories. */
function only(from, ...allowed) {
  return {
    name: `${from}-imports`,
    comment: `${from}/ imports only from ${[from, ...allowed].join(', ')}`,
    severity: 'error',
    from: { path: `^${from}/`, pathNot: test },
    to: {
      path: '^[^/]+(/|$)',
      pathNot: [from, ...allowed]
        .map((directory) => `^${directory}/`)
        .concat('^node_modules/', '^package\\.json$'),
      dependencyTypesNot: ['core', 'npm', 'npm-dev', 'npm-optional'],
    },
  };
}

module.exports = {
  forbidden: [
    only('generated'),
    only('domain', 'generated'),
    only('db', 'domain', 'generated'),
    only('handlers', 'db', 'domain', 'generated'),
    only('jobs', 'db', 'domain', 'drivers', 'generated'),
    only('drivers', 'domain'),
    only('network', 'domain'),
    only('server', 'handlers', 'jobs', 'drivers', 'network', 'db', 'domain', 'generated'),
    only('codegen'),
    only('client', 'generated', 'domain'),
    {
      name: 'sql-stands-in-db',
      comment: 'only db/ knows SQL; others take its conditions and subjects as they are',
      severity: 'error',
      from: { path: '^(handlers|jobs|server)/', pathNot: test },
      to: { path: '^db/sql\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'jobs-know-drivers-by-contract',
      comment: 'jobs use the driver contract, not a driver',
      severity: 'error',
      from: { path: '^jobs/', pathNot: test },
      to: { path: '^drivers/', pathNot: '^drivers/driver\\.ts$' },
    },
    {
      name: 'drivers-take-types-of-the-domain',
      comment: 'drivers know the domain by its types alone',
      severity: 'error',
      from: { path: '^drivers/', pathNot: test },
      to: { path: '^domain/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'domain-is-pure',
      comment: 'domain/ does no I/O: of Node it may use what computes',
      severity: 'error',
      from: { path: '^domain/', pathNot: test },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|net|util|assert)$' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages',
      comment: 'what serves uses no development dependency',
      severity: 'error',
      from: {
        path: '^(domain|db|handlers|jobs|drivers|network|server)/',
        pathNot: test,
      },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(node_modules|\\.shoal|contract-tests/recordings)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      conditionNames: ['import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
