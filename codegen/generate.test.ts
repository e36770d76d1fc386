import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fields } from '#generated/fields.ts';
import { operations, unimplemented } from '#generated/operations.ts';
import { policies } from '#generated/policies.ts';
import * as validators from '#generated/validators.js';
import { within } from './windows.ts';

const root = resolve(import.meta.dirname, '..');

test('generated/ is what openapi/ makes it', () => {
  const { status, stderr } = spawnSync(process.execPath, ['codegen/main.ts', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('documents of single versions are valid OpenAPI', () => {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-documents-'));
  try {
    const files = ['2.0', '2.37', '2.99'].map((version) => {
      const file = join(directory, `${version}.json`);
      execFileSync(process.execPath, ['codegen/openapi.ts', '--version', version, '--out', file], {
        cwd: root,
      });
      return file;
    });
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    const args = [redocly, 'lint', '--config', 'redocly.yaml', ...files];
    const { status, stdout } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' },
    });
    expect({ status, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stdout: '' });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('a version that is none is refused', () => {
  const { status, stderr } = spawnSync(process.execPath, ['codegen/openapi.ts', '--version', '2.100'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toContain('from 2.0 to 2.99');
});

const named = validators as unknown as Record<string, validators.Validator>;

/** Whether a body (or query) passes an operation at a version. */
function passes(
  id: keyof typeof operations,
  part: 'body' | 'query',
  version: number,
  data: unknown,
): boolean {
  const name = operations[id][part]?.windows.find((window) => within(window, version))?.validator;
  const validator = named[name ?? ''];
  if (!validator) throw new Error(`${id} has no validator of its ${part} at 2.${version}`);
  return validator(data);
}

test('every version of an operation with a body or query has its validator', () => {
  for (const operation of Object.values(operations)) {
    for (const part of ['body', 'query'] as const) {
      if (!operation[part]) continue;
      for (let version = operation.since; version <= operation.until; version++) {
        expect(() => passes(operation.id, part, version, {})).not.toThrow();
      }
    }
  }
});

test('sizes may be texts, and must be whole numbers', () => {
  const share = (size: unknown) => ({ share_proto: 'NFS', size });
  for (const size of [1, '1', 0, null]) expect(passes('createShare', 'body', 99, share(size))).toBe(true);
  for (const size of [1.5, 'one', -1, true, [], ' 1 '])
    expect(passes('createShare', 'body', 99, share(size))).toBe(false);
});

test('a field of later versions is let through, unless the contract refuses it', () => {
  const hints = { share_proto: 'NFS', size: 1, scheduler_hints: 'x' };
  expect(passes('createShare', 'body', 64, hints)).toBe(true);
  expect(passes('createShare', 'body', 65, hints)).toBe(false);
  const quota = { share_groups: 5 };
  expect(passes('updateQuotaSet', 'body', 39, quota)).toBe(false);
  expect(passes('updateQuotaSet', 'body', 40, quota)).toBe(true);
});

test('lengths count characters', () => {
  expect(passes('updateShare', 'body', 99, { display_name: '🐟'.repeat(255) })).toBe(true);
  expect(passes('updateShare', 'body', 99, { display_name: '🐟'.repeat(256) })).toBe(false);
});

test('uuids may lack their hyphens', () => {
  const revert = (id: string) => passes('revertShare', 'body', 99, { snapshot_id: id });
  expect(revert('11111111-1111-4111-8111-111111111111')).toBe(true);
  expect(revert('11111111111141118111111111111111')).toBe(true);
  expect(revert('nope')).toBe(false);
});

test('queries let through what they do not know', () => {
  expect(passes('listShares', 'query', 99, { bogus: '1', limit: '2' })).toBe(true);
  expect(passes('listShares', 'query', 99, { limit: 'x' })).toBe(false);
  expect(passes('listShares', 'query', 41, { with_count: 'bad' })).toBe(true);
  expect(passes('listShares', 'query', 42, { with_count: 'bad' })).toBe(false);
});

test('tables name only what other tables have', () => {
  for (const { policy, body, query, response } of Object.values(operations)) {
    if (policy !== null) expect(policies).toHaveProperty([policy]);
    const schemas = [
      body?.schema,
      query?.schema,
      ...Object.values(response?.envelope ?? {}).map((key) => key.schema),
    ];
    for (const schema of schemas) if (schema) expect(fields).toHaveProperty([schema]);
  }
  for (const field of Object.values(fields).flat()) {
    if (field.schema) expect(fields).toHaveProperty([field.schema]);
    if (field.visibleTo && field.visibleTo !== 'admin') expect(policies).toHaveProperty([field.visibleTo]);
  }
});

test('what nothing serves is served by no operation', () => {
  const routes = Object.values(operations).flatMap(({ method, paths }) =>
    paths.map(({ path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`),
  );
  for (const { method, path } of unimplemented) {
    expect(routes).not.toContain(`${method} ${path.replace(/\{\w+\}/g, '{}')}`);
  }
});
