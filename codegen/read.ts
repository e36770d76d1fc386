/**
 * Reads openapi/ into a Contract. Anything the format doesn't know (a misspelt key, a version that is
 * none) is a problem named with its file and key.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkContract } from './check.ts';
import type { Behaviour, Contract, MessageCode, Operation, Policy, Schema, Verb } from './contract.ts';
import { Problems } from './problems.ts';
import { isMap, onlyKeys, type Raw, type Reading, readWindow } from './reading.ts';
import { readOperation } from './readOperation.ts';
import { includeFields, readSchema } from './readSchema.ts';
import { minorOf, type Window } from './windows.ts';

/** Reads the contract in a directory laid out as openapi/ is. Throws a ContractError. */
export function readContract(directory: string): Contract {
  const problems = new Problems();
  const load = (file: string): Raw => loadYaml(problems, directory, file);
  const versions = load('versions.yaml');
  const range = readRange(problems, versions);
  const reading: Reading = { problems, range };

  const schemas: Record<string, Schema> = {};
  for (const file of filesIn(directory, 'schemas')) {
    for (const [name, raw] of Object.entries(load(file))) {
      if (schemas[name]) problems.add(file, name, `is defined in ${schemas[name].file} already`);
      const schema = readSchema(reading, file, name, raw);
      if (schema) schemas[name] = schema;
    }
  }
  includeFields(reading, schemas);

  const operations: Operation[] = [];
  const tags: Record<string, string> = {};
  for (const file of filesIn(directory, 'operations')) {
    const resource = file.replace(/^operations\/|\.yaml$/g, '');
    tags[resource] = firstComment(readFileSync(join(directory, file), 'utf8'));
    const { 'x-planned': planned, ...raws } = load(file);
    for (const [id, raw] of Object.entries(raws)) {
      const operation = readOperation(reading, file, resource, id, raw, planned === true);
      const other = operations.find((earlier) => earlier.id === id);
      if (other) problems.add(file, id, `is defined in ${other.file} already`);
      if (operation) operations.push(operation);
    }
  }

  const messages = load('messages.yaml');
  const contract: Contract = {
    range,
    behaviours: readBehaviours(reading, versions),
    policies: readPolicies(reading, load('policies.yaml')),
    actions: readMessages(reading, messages, 'actions'),
    details: readMessages(reading, messages, 'details'),
    schemas,
    operations,
    tags,
    unimplemented: readUnimplemented(reading, load('unimplemented.yaml')),
  };
  problems.throwIfAny();
  checkContract(problems, contract);
  problems.throwIfAny();
  return contract;
}

function loadYaml(problems: Problems, directory: string, file: string): Raw {
  try {
    const raw: unknown = parse(readFileSync(join(directory, file), 'utf8'));
    if (isMap(raw)) return raw;
    problems.add(file, '(file)', 'must hold a map');
  } catch (error) {
    problems.add(file, '(file)', error instanceof Error ? error.message : String(error));
  }
  return {};
}

const filesIn = (directory: string, folder: string): string[] =>
  readdirSync(join(directory, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => `${folder}/${name}`);

/** The comment at the top of a file says what the file is about. */
function firstComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('#')) break;
    lines.push(line.replace(/^#\s?/, ''));
  }
  return lines.join(' ').trim();
}

function readRange(problems: Problems, versions: Raw): Window {
  const range = isMap(versions.range) ? versions.range : {};
  const since = minorOf(range.min);
  const until = minorOf(range.max);
  if (since === null || until === null)
    problems.add('versions.yaml', 'range', 'needs min and max, like "2.0"');
  return { since: since ?? 0, until: until ?? 0 };
}

function readBehaviours(reading: Reading, versions: Raw): Record<string, Behaviour> {
  onlyKeys(reading, 'versions.yaml', '(file)', versions, ['range', 'behaviours']);
  const behaviours: Record<string, Behaviour> = {};
  for (const [name, raw] of Object.entries(isMap(versions.behaviours) ? versions.behaviours : {})) {
    if (!isMap(raw) || typeof raw.note !== 'string') {
      reading.problems.add('versions.yaml', name, 'needs a note that says what it means');
      continue;
    }
    onlyKeys(reading, 'versions.yaml', name, raw, ['since', 'until', 'note']);
    behaviours[name] = { ...readWindow(reading, 'versions.yaml', name, raw), note: raw.note };
  }
  return behaviours;
}

function readPolicies(reading: Reading, raw: Raw): Record<string, Policy> {
  const policies: Record<string, Policy> = {};
  for (const [name, rule] of Object.entries(raw)) {
    if (!isMap(rule) || typeof rule.check !== 'string') {
      reading.problems.add('policies.yaml', name, 'needs a check');
      continue;
    }
    onlyKeys(reading, 'policies.yaml', name, rule, ['check', 'scopes', 'deprecated']);
    policies[name] = {
      check: rule.check,
      scopes: rule.scopes === undefined ? ['project'] : (rule.scopes as string[] | null),
      ...(typeof rule.deprecated === 'string' ? { deprecated: { name, check: rule.deprecated } } : {}),
    };
  }
  return policies;
}

function readMessages(reading: Reading, raw: Raw, part: 'actions' | 'details'): Record<string, MessageCode> {
  const codes: Record<string, MessageCode> = {};
  const seen = new Map<string, string>();
  for (const [name, code] of Object.entries(isMap(raw[part]) ? raw[part] : {})) {
    if (!isMap(code) || typeof code.id !== 'string' || typeof code.text !== 'string') {
      reading.problems.add('messages.yaml', `${part}.${name}`, 'needs an id in quotes and a text');
      continue;
    }
    const other = seen.get(code.id);
    if (other) reading.problems.add('messages.yaml', `${part}.${name}`, `has the id of ${other}`);
    seen.set(code.id, name);
    codes[name] = { id: code.id, text: code.text };
  }
  return codes;
}

function readUnimplemented(reading: Reading, raw: Raw): Verb[] {
  const verbs: Verb[] = [];
  for (const [path, methods] of Object.entries(raw)) {
    if (!Array.isArray(methods)) {
      reading.problems.add('unimplemented.yaml', path, 'needs a list of methods');
      continue;
    }
    for (const method of methods) verbs.push({ method: String(method).toUpperCase(), path });
  }
  return verbs;
}
