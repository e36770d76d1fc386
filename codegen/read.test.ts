import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handled } from './contract.ts';
import { readContract } from './read.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shoal-contract-'));
  mkdirSync(join(directory, 'operations'));
  mkdirSync(join(directory, 'schemas'));
  write('versions.yaml', 'range: { min: "2.0", max: "2.99" }\nbehaviours: {}\n');
  write('policies.yaml', "boat:get: { check: '@' }\n");
  write('messages.yaml', 'actions: {}\ndetails: {}\n');
  write('unimplemented.yaml', '/boats/new: [get]\n');
  write('schemas/boats.yaml', 'Boat:\n  id: { type: string }\n');
  write('operations/boats.yaml', `# Boats.\n${getBoat}`);
});

afterEach(() => rmSync(directory, { recursive: true }));

const getBoat = `
getBoat:
  method: get
  path: /boats/{id}
  x-policy: boat:get
  summary: Shows a boat.
  response: { boat: { $ref: '#/Boat' } }
`;

const write = (file: string, text: string): void => writeFileSync(join(directory, file), text);

/** What is said against the contract as it stands. */
function complaints(): string[] {
  try {
    readContract(directory);
    return [];
  } catch (error) {
    return String((error as Error).message).split('\n');
  }
}

test('a small contract is read with its defaults filled in', () => {
  const contract = readContract(directory);
  expect(contract.tags).toEqual({ boats: 'Boats.' });
  expect(contract.operations).toMatchObject([
    {
      id: 'getBoat',
      method: 'GET',
      since: 0,
      until: 99,
      success: 200,
      paths: [{ path: '/boats/{id}', since: 0, until: 99 }],
      response: [{ key: 'boat', list: false, schema: { $ref: '#/Boat' } }],
    },
  ]);
});

test('the windows of an operation follow from those of its spellings and actions', () => {
  write(
    'operations/boats.yaml',
    `${getBoat}
sinkBoat:
  method: post
  path: /boats/{id}/action
  x-action: [{ name: os-sink, since: "2.3", until: "2.6" }, { name: sink, since: "2.7" }]
  x-until: "2.44"
  x-experimental: { until: "2.9" }
  x-policy: boat:get
  summary: Sinks a boat.
`,
  );
  expect(readContract(directory).operations[1]).toMatchObject({
    since: 3,
    until: 44,
    actions: [
      { name: 'os-sink', since: 3, until: 6 },
      { name: 'sink', since: 7, until: 44 },
    ],
    experimental: [{ since: 0, until: 9 }],
  });
});

test('a planned file is checked, and marked', () => {
  write(
    'operations/ships.yaml',
    `x-planned: true\n${getBoat.replace('getBoat', 'getShip').replace('/boats', '/ships')}`,
  );
  const contract = readContract(directory);
  expect(contract.operations.map(({ id, planned }) => [id, planned])).toEqual([
    ['getBoat', false],
    ['getShip', true],
  ]);
  expect(handled(contract).map(({ id }) => id)).toEqual(['getBoat']);
  write('operations/ships.yaml', `x-planned: true\n${getBoat}`);
  expect(complaints()).toHaveLength(1);
});

test('an included schema lends its fields', () => {
  write(
    'schemas/boats.yaml',
    'Hull:\n  id: { type: string }\n  name: { type: string }\nBoat:\n  x-include: Hull\n  id: { type: integer }\n  crew: { type: integer }\n',
  );
  write('operations/boats.yaml', getBoat.replace('{ boat: {', "{ hull: { $ref: '#/Hull' }, boat: {"));
  const boat = readContract(directory).schemas.Boat;
  expect(boat?.kind === 'object' && boat.fields.map(({ name, schema }) => [name, schema.type])).toEqual([
    ['name', 'string'],
    ['id', 'integer'],
    ['crew', 'integer'],
  ]);
});

describe('what is wrong is named with its file and key', () => {
  const operation = (from: string, to: string) => () =>
    write('operations/boats.yaml', getBoat.replace(from, to));
  const schema = (text: string) => () =>
    write('schemas/boats.yaml', `Boat:\n  id: { type: string }\n${text}`);
  const cases: [string, () => void, string][] = [
    [
      'an unknown key',
      operation('method:', 'x-polciy: y\n  method:'),
      'operations/boats.yaml: getBoat: unknown key `x-polciy`',
    ],
    [
      'a missing policy',
      operation('  x-policy: boat:get\n', ''),
      'operations/boats.yaml: getBoat: needs an x-policy',
    ],
    [
      'an unknown policy',
      operation('boat:get', 'boat:see'),
      'operations/boats.yaml: getBoat: x-policy: no policy is named `boat:see`',
    ],
    [
      'an unknown method',
      operation('method: get', 'method: patch'),
      'operations/boats.yaml: getBoat: method must be',
    ],
    [
      'a dangling reference',
      operation('#/Boat', '#/Ship'),
      'operations/boats.yaml: getBoat: no schema is named `Ship`',
    ],
    [
      'an unquoted version',
      operation('method:', 'x-since: 2.7\n  method:'),
      'getBoat: x-since must be a version in quotes',
    ],
    [
      'a window beyond the range',
      operation('method:', 'x-until: "2.100"\n  method:'),
      'getBoat: the window reaches beyond',
    ],
    [
      'a window that ends first',
      operation('method:', 'x-since: "2.9"\n  x-until: "2.8"\n  method:'),
      'getBoat: the window ends before it begins',
    ],
    ['a path that is none', operation('/boats/{id}', 'boats/{id'), 'getBoat: `boats/{id` is no path'],
    [
      'a route taken twice',
      () => write('operations/more.yaml', getBoat.replace('getBoat', 'seeBoat').replace('{id}', '{boat}')),
      'operations/more.yaml: seeBoat: GET /boats/{} is getBoat already (from 2.0 to 2.99)',
    ],
    [
      'an id taken twice',
      () => write('operations/more.yaml', getBoat.replace('/boats', '/ships')),
      'operations/more.yaml: getBoat: is defined in operations/boats.yaml already',
    ],
    [
      'a field known twice',
      schema('  name: [{ type: string, x-until: "2.6" }, { type: integer, x-since: "2.6" }]\n'),
      'schemas/boats.yaml: Boat: the windows of field `name` overlap (at 2.6)',
    ],
    [
      'an unknown key of a field',
      schema('  name: { type: string, x-sinse: "2.6" }\n'),
      'schemas/boats.yaml: Boat.name: unknown key `x-sinse`',
    ],
    [
      'a hidden field of no policy',
      schema('  name: { type: string, x-visible-to: crew }\n'),
      'schemas/boats.yaml: Boat.name: x-visible-to: no policy is named `crew`',
    ],
    [
      'a required field that is none',
      schema('  x-required: [name]\n'),
      "schemas/boats.yaml: Boat: requires `name`, which it doesn't have",
    ],
    [
      'a schema of no use',
      schema('Raft:\n  id: { type: string }\n'),
      'schemas/boats.yaml: Raft: is used by no operation',
    ],
    [
      'a rule of no name',
      () => write('policies.yaml', "boat:get: { check: 'rule:captain' }\n"),
      'policies.yaml: boat:get: no rule is named `captain`',
    ],
    ['YAML that is none', () => write('policies.yaml', 'boat:get: {'), 'policies.yaml: (file): '],
  ];
  test.each(cases)('%s', (_, change, expected) => {
    change();
    expect(complaints()).toContainEqual(expect.stringContaining(expected));
  });
});

test('everything wrong is named at once', () => {
  write(
    'operations/boats.yaml',
    getBoat.replace('method: get', 'method: patch').replace('summary', 'sumary'),
  );
  expect(complaints().length).toBeGreaterThanOrEqual(3);
});
