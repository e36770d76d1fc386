/**
 * The types that handlers compile against: api.d.ts (the schemas over all versions, under the
 * handlers' names) and handlers.ts (what each operation is given and gives).
 */
import openapiTS, { astToString } from 'openapi-typescript';
import { type Contract, handled, type JsonSchema, type Operation } from './contract.ts';
import { header, propertyName, quote } from './printing.ts';
import { handlerSchema, reach, refName, refsIn, withRefs } from './schemas.ts';

const inComponents = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The names that requests and queries lead to. */
function requestNames(contract: Contract): Set<string> {
  return reach(
    contract,
    handled(contract).flatMap(({ request, query }) => refsIn([request?.schema, query])),
  );
}

/** All schemas over all versions, as a document that openapi-typescript takes. */
export function handlerDocument(contract: Contract): JsonSchema {
  const requests = requestNames(contract);
  const schemas = Object.fromEntries(
    Object.values(contract.schemas).map((schema) => [
      schema.name,
      schema.kind === 'plain'
        ? withRefs(schema.schema, inComponents)
        : handlerSchema(contract, schema, requests.has(schema.name), inComponents),
    ]),
  );
  return { openapi: '3.1.0', info: { title: 'Shoal', version: 'all' }, paths: {}, components: { schemas } };
}

export async function emitApiTypes(contract: Contract): Promise<string> {
  const ast = await openapiTS(handlerDocument(contract) as never, {
    alphabetize: true,
    emptyObjectsUnknown: true,
  });
  return `${header('Types of all schemas, under the names that handlers use.', 'openapi/schemas/')}\n${astToString(ast)}`;
}

const schemaType = (name: string): string => `Schemas[${quote(name)}]`;

/** The type of a schema where it is used: a name, or one of the few plain types used in place. */
function typeOf(schema: JsonSchema): string {
  const name = refName(schema);
  if (name !== null) return schemaType(name);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const plain: Record<string, string> = {
    integer: 'number',
    number: 'number',
    string: 'string',
    boolean: 'boolean',
    null: 'null',
  };
  return types.map((type) => plain[String(type)] ?? 'unknown').join(' | ');
}

function resultType(operation: Operation): string {
  if (!operation.response) return 'void';
  const whole = operation.response.find(({ key }) => key === '.');
  if (whole) return typeOf(whole.schema);
  const given = operation.response.filter(({ from }) => from === null);
  const members = given.map(({ key, schema, list, optional }) => {
    const type = typeOf(schema);
    return `${propertyName(key)}${optional ? '?' : ''}: ${list ? `${type}[]` : type}`;
  });
  return `{ ${members.join('; ')} }`;
}

function pathType(operation: Operation): string {
  const names = new Set(
    operation.paths.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map((m) => m[1])),
  );
  return names.size > 0 ? `{ ${[...names].map((name) => `${name}: string`).join('; ')} }` : 'None';
}

export function emitHandlers(contract: Contract): string {
  const members = handled(contract).map((operation) => {
    const body = operation.request ? typeOf(operation.request.schema) : 'undefined';
    return `  /** ${operation.summary} */
  ${operation.id}: {
    path: ${pathType(operation)};
    query: ${operation.query ? typeOf(operation.query) : 'None'};
    body: ${body};
    result: ${resultType(operation)};
  };\n`;
  });
  return `${header('What each operation is given, and what it gives.', 'openapi/')}
import type { components } from './api.d.ts';

export type Schemas = components['schemas'];

type None = Record<never, never>;

export interface Operations {
${members.join('')}}

export type OperationId = keyof Operations;
`;
}
