/** What the contract says can be called, and with what: the matter that bad input is made from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Operation, operations } from '#generated/operations.ts';

/** As much of JSON Schema as the contract uses. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
}

export interface Endpoint {
  /** for people: method, newest path and action */
  title: string;
  operation: Operation;
  /** of what the body's key holds, at the newest version; undefined where the contract says nothing then */
  body: Schema | undefined;
  queryNames: readonly string[];
}

interface Described {
  operationId: string;
  parameters?: readonly { name: string; in: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema & { oneOf?: readonly Titled[] } } } };
}
type Titled = Schema & { title: string };

const document = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'generated', 'openapi.json'), 'utf8'),
) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};

const described = new Map<string, Described>();
const actions = new Map<string, Schema>();
for (const item of Object.values(document.paths)) {
  for (const one of Object.values(item)) {
    if (!one.operationId) continue; // the path's own parameters
    described.set(one.operationId, one);
    for (const action of one.requestBody?.content['application/json'].schema.oneOf ?? [])
      actions.set(action.title, action);
  }
}

/** Every operation of the contract. */
export const endpoints: readonly Endpoint[] = Object.values(operations).map((operation) => {
  const it = described.get(operation.id);
  const body = actions.get(operation.id) ?? it?.requestBody?.content['application/json'].schema;
  const key = operation.actions?.at(-1)?.name ?? operation.body?.key;
  const action = operation.actions?.at(-1)?.name;
  return {
    title: `${operation.method} ${operation.paths.at(-1)!.path}${action ? ` ${action}` : ''}`,
    operation,
    body: key ? body?.properties?.[key] : body,
    queryNames: (it?.parameters ?? []).filter(({ in: where }) => where === 'query').map(({ name }) => name),
  };
});

/** The schema itself, where it only refers to one by name. */
export function resolved(schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const name = schema.$ref.split('/').at(-1)!;
  return resolved(document.components.schemas[name]!);
}
