/**
 * What makes a well-formed contract a sound one: every name leads somewhere, and at no version do two
 * things claim the same place.
 */
import type { Contract, Operation } from './contract.ts';
import type { Problems } from './problems.ts';
import { reach, refsIn } from './schemas.ts';
import { intersect, isEmpty, overlap, type Window } from './windows.ts';

export function checkContract(problems: Problems, contract: Contract): void {
  checkPolicies(problems, contract);
  checkSchemas(problems, contract);
  for (const operation of contract.operations) checkOperation(problems, contract, operation);
  checkRoutes(problems, contract);
  checkUse(problems, contract);
}

function checkPolicies(problems: Problems, contract: Contract): void {
  for (const [name, { check, deprecated }] of Object.entries(contract.policies)) {
    for (const [, rule] of `${check} ${deprecated?.check ?? ''}`.matchAll(/rule:([\w:-]+)/g)) {
      if (rule && !contract.policies[rule])
        problems.add('policies.yaml', name, `no rule is named \`${rule}\``);
    }
  }
}

function checkSchemas(problems: Problems, contract: Contract): void {
  for (const schema of Object.values(contract.schemas)) {
    const bodies = schema.kind === 'plain' ? [schema.schema] : schema.fields.map((field) => field.schema);
    checkRefs(problems, contract, schema.file, schema.name, bodies);
    if (schema.kind === 'plain') continue;
    for (const name of schema.required) {
      if (!schema.fields.some((field) => field.name === name)) {
        problems.add(schema.file, schema.name, `requires \`${name}\`, which it doesn't have`);
      }
    }
    for (const field of schema.fields) {
      const where = `${schema.name}.${field.name}`;
      if (field.visibleTo !== null && field.visibleTo !== 'admin' && !contract.policies[field.visibleTo]) {
        problems.add(schema.file, where, `x-visible-to: no policy is named \`${field.visibleTo}\``);
      }
      checkApart(problems, schema.file, where, field.values, () => 'values');
    }
    checkApart(problems, schema.file, schema.name, schema.fields, (field) => `field \`${field.name}\``);
  }
}

function checkOperation(problems: Problems, contract: Contract, operation: Operation): void {
  const { file, id, paths, actions, policy, response } = operation;
  if (isEmpty(operation)) problems.add(file, id, 'is served at no version');
  if (policy !== null && !contract.policies[policy]) {
    problems.add(file, id, `x-policy: no policy is named \`${policy}\``);
  }
  for (const { path } of paths) {
    if (!/^(\/|(\/([\w-]+|\{\w+\}))+)$/.test(path)) problems.add(file, id, `\`${path}\` is no path`);
  }
  if (actions && operation.method !== 'POST') problems.add(file, id, 'an action needs method: post');
  checkApart(problems, file, id, actions ?? [], () => 'the names of the action');
  const parts = [operation.query, operation.request?.schema, ...(response ?? []).map((key) => key.schema)];
  checkRefs(problems, contract, file, id, parts);
  for (const key of response ?? []) {
    if (key.from !== null && !response?.some((other) => other.key === key.from)) {
      problems.add(file, `${id}.response.${key.key}`, `x-from: there is no \`${key.from}\` in the response`);
    }
  }
}

function checkRefs(
  problems: Problems,
  contract: Contract,
  file: string,
  where: string,
  parts: unknown[],
): void {
  for (const name of new Set(refsIn(parts))) {
    if (!contract.schemas[name]) problems.add(file, where, `no schema is named \`${name}\``);
  }
}

/** Things of one name must not meet at a version. */
function checkApart<T extends Window>(
  problems: Problems,
  file: string,
  where: string,
  items: readonly T[],
  name: (item: T) => string,
): void {
  items.forEach((item, i) => {
    const other = items.slice(0, i).find((earlier) => name(earlier) === name(item) && overlap(earlier, item));
    if (other) problems.add(file, where, `the windows of ${name(item)} overlap (${meeting(item, other)})`);
  });
}

function meeting(a: Window, b: Window): string {
  const both = intersect(a, b);
  return both.since === both.until ? `at 2.${both.since}` : `from 2.${both.since} to 2.${both.until}`;
}

/** At any version, a method and path (and action) is one operation. */
function checkRoutes(problems: Problems, contract: Contract): void {
  const seen = new Map<string, { window: Window; id: string }[]>();
  for (const { id, file, method, paths, actions } of contract.operations) {
    for (const spelling of paths) {
      for (const action of actions ?? [null]) {
        const window = action ? intersect(spelling, action) : spelling;
        const route = `${method} ${spelling.path.replace(/\{\w+\}/g, '{}')} ${action?.name ?? ''}`.trim();
        const others = seen.get(route) ?? [];
        const other = others.find((entry) => overlap(entry.window, window) && !isEmpty(window));
        if (other)
          problems.add(file, id, `${route} is ${other.id} already (${meeting(other.window, window)})`);
        seen.set(route, [...others, { window, id }]);
      }
    }
  }
}

function checkUse(problems: Problems, contract: Contract): void {
  const used = reach(
    contract,
    contract.operations.flatMap(({ query, request, response }) =>
      refsIn([query, request?.schema, (response ?? []).map((key) => key.schema)]),
    ),
  );
  for (const { name, file } of Object.values(contract.schemas)) {
    if (!used.has(name)) problems.add(file, name, 'is used by no operation');
  }
}
