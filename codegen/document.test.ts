import { resolve } from 'node:path';
import { documentAt } from './document.ts';
import { readContract } from './read.ts';

const contract = readContract(resolve(import.meta.dirname, '../openapi'));

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into by hand
const at = (version: number): any => documentAt(contract, version);

const properties = (version: number, schema: string): string[] =>
  Object.keys(at(version).components.schemas[schema].properties);

const actions = (version: number, path: string): string[] =>
  at(version).paths[path].post.requestBody.content['application/json'].schema.oneOf.flatMap(
    // biome-ignore lint/suspicious/noExplicitAny: as above
    (body: any) => Object.keys(body.properties),
  );

test.each([0, 6, 7, 37, 99])('2.%i names itself and refers to nothing that is not there', (version) => {
  const document = at(version);
  expect(document.info.version).toBe(`2.${version}`);
  const text = JSON.stringify(document);
  for (const [, section, name] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    expect(document.components[section as string]).toHaveProperty(name as string);
  }
});

test('paths are spelt as their version spells them', () => {
  expect(at(6).paths).toHaveProperty('/os-services');
  expect(at(6).paths).not.toHaveProperty('/services');
  expect(at(7).paths).toHaveProperty('/services');
  expect(at(7).paths).not.toHaveProperty('/os-services');
  expect(at(36).paths).not.toHaveProperty('/messages');
  expect(at(37).paths).toHaveProperty('/messages');
});

test('actions have the names of their version', () => {
  expect(actions(6, '/shares/{id}/action')).toContain('os-extend');
  expect(actions(7, '/shares/{id}/action')).toContain('extend');
  expect(actions(7, '/shares/{id}/action')).not.toContain('os-extend');
  expect(actions(44, '/shares/{id}/action')).toContain('access_list');
  expect(actions(45, '/shares/{id}/action')).not.toContain('access_list');
});

test('schemas have the fields of their version', () => {
  expect(properties(0, 'Share')).toContain('export_locations');
  expect(properties(9, 'Share')).not.toContain('export_locations');
  expect(properties(1, 'Share')).not.toContain('snapshot_support');
  expect(properties(2, 'Share')).toContain('snapshot_support');
  expect(properties(63, 'ShareExtend')).not.toContain('force');
  expect(properties(64, 'ShareExtend')).toContain('force');
});

test('values have the names of their version', () => {
  const statuses = (version: number) =>
    at(version).components.schemas.Share.properties.access_rules_status.enum;
  expect(statuses(27)).toEqual(['active', 'out_of_sync', 'error']);
  expect(statuses(28)).toEqual(['active', 'syncing', 'error']);
});

test('query parameters come and go', () => {
  const names = (version: number): string[] =>
    at(version).paths['/shares'].get.parameters.map((parameter: { name: string }) => parameter.name);
  expect(names(35)).not.toContain('name~');
  expect(names(36)).toContain('name~');
});

test('what is experimental says so', () => {
  const marked = (version: number): boolean =>
    JSON.stringify(at(version).paths['/shares/{id}/action']).includes('"x-experimental":true');
  expect(marked(95)).toBe(true);
  expect(marked(96)).toBe(false);
});
