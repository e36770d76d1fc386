/** The table of operations that the router and the engine work by. */
import { type Contract, handled, type Operation } from './contract.ts';
import { objectBehind } from './emitFields.ts';
import { header, literal, propertyName } from './printing.ts';
import { bodyValidators, queryValidators, requestObject, type Validator } from './validation.ts';

const windowsOf = (validators: readonly Validator[]) =>
  validators.map(({ since, until, name }) => ({ since, until, validator: name }));

function row(contract: Contract, operation: Operation): unknown {
  const { request, query, response } = operation;
  return {
    id: operation.id,
    method: operation.method,
    paths: operation.paths.map(({ path, since, until }) => ({ path, since, until })),
    actions: operation.actions?.map(({ name, since, until }) => ({ name, since, until })),
    since: operation.since,
    until: operation.until,
    experimental: operation.experimental.length > 0 ? operation.experimental : undefined,
    policy: operation.policy,
    success: operation.success,
    body: request && {
      key: request.key,
      also: request.also ?? undefined,
      missing: operation.missing,
      schema: requestObject(contract, request.schema),
      windows: windowsOf(bodyValidators(contract, operation)),
    },
    query: query && {
      schema: requestObject(contract, query),
      windows: windowsOf(queryValidators(contract, operation)),
    },
    response: response && {
      envelope: Object.fromEntries(
        response.map((key) => [
          key.key,
          {
            from: key.from ?? undefined,
            schema: objectBehind(contract, key.schema),
            list: key.list,
            since: key.since,
            until: key.until,
          },
        ]),
      ),
    },
  };
}

/** Verbs that are known and that no operation serves at any version. */
function unserved(contract: Contract): Contract['unimplemented'] {
  const served = new Set(
    contract.operations.flatMap(({ method, paths }) => paths.map(({ path }) => `${method} ${shape(path)}`)),
  );
  return contract.unimplemented.filter(({ method, path }) => !served.has(`${method} ${shape(path)}`));
}

const shape = (path: string): string => path.replace(/\{\w+\}/g, '{}');

export function emitOperations(contract: Contract): string {
  const rows = handled(contract).map(
    (operation) => `  ${propertyName(operation.id)}: ${literal(row(contract, operation), '  ')},\n`,
  );
  return `${header('Every operation: its routes, windows, policy, body and answer.', 'openapi/operations/')}
import type { SchemaName } from './fields.ts';
import type { OperationId } from './handlers.ts';
import type { PolicyName } from './policies.ts';

export type { OperationId } from './handlers.ts';

/** Versions from since to until, both included; minor numbers. */
export interface Window {
  readonly since: number;
  readonly until: number;
}

/** The function in validators.js that judges at these versions. */
export interface ValidatorWindow extends Window {
  readonly validator: string;
}

export interface EnvelopeKey extends Window {
  /** The handler's key, when it differs. */
  readonly from?: string;
  /** What projects it; null: passed through. */
  readonly schema: SchemaName | null;
  readonly list: boolean;
}

export interface Operation extends Window {
  readonly id: OperationId;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Spellings of the path, each at its versions; \`{name}\` segments. */
  readonly paths: readonly ({ readonly path: string } & Window)[];
  /** Keys of the body that name this action, each at its versions. */
  readonly actions?: readonly ({ readonly name: string } & Window)[];
  /** Versions at which the experimental header is needed. */
  readonly experimental?: readonly Window[];
  /** Checked before the handler; null: the handler alone decides. */
  readonly policy: PolicyName | null;
  readonly success: number;
  /**
   * \`key\` holds the entity that is validated (\`also\` may stand in its place); null: the body itself,
   * or the value of the action's key. \`missing\` answers a body without the entity. \`schema\` names
   * the fields by which the entity is cut to its version and renamed; null: passed on as it is.
   */
  readonly body: null | {
    readonly key: string | null;
    readonly also?: string;
    readonly missing: 400 | 422;
    readonly schema: SchemaName | null;
    readonly windows: readonly ValidatorWindow[];
  };
  /** Parameters are texts; unknown ones are let through and dropped by \`schema\`. */
  readonly query: null | { readonly schema: SchemaName | null; readonly windows: readonly ValidatorWindow[] };
  /** What the answer holds by its top-level keys; the key \`.\` is the whole body. null: no body. */
  readonly response: null | { readonly envelope: Readonly<Record<string, EnvelopeKey>> };
}

/** A verb that the router knows and that answers 404 itemNotFound. */
export interface Verb {
  readonly method: string;
  readonly path: string;
  readonly action?: string;
}

export const operations: Readonly<Record<OperationId, Operation>> = {
${rows.join('')}};

export const unimplemented: readonly Verb[] = [
${unserved(contract)
  .map((verb) => `  ${literal(verb)},\n`)
  .join('')}];
`;
}
