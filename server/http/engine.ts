/**
 * openapi-backend as the engine: it takes a matched request through policy, validation and the handler. Its own
 * router and schema compiler cost milliseconds a request at this size, so both are given the generated tables
 * instead: the request comes matched, and is validated by the generated standalone validators.
 */
import {
  type Context as EngineContext,
  type Request as EngineRequest,
  OpenAPIBackend,
} from 'openapi-backend';
import { fault } from '#domain/faults.ts';
import { type Operation, operations } from '#generated/operations.ts';
import * as generated from '#generated/validators.js';
import type { Ctx } from '#handlers/context.ts';
import type { Handlers } from '#handlers/request.ts';
import { isObject } from './body.ts';
import { narrow } from './narrowing.ts';

/** A request that has been matched to its operation and parsed. */
export interface MatchedRequest {
  operation: Operation;
  params: Record<string, string>;
  query: Record<string, unknown>;
  /** the whole JSON body; undefined when the operation takes none */
  body: unknown;
  ctx: Ctx;
}

export interface Engine {
  /** Runs the operation and answers the handler's result; refusals are thrown as Fault. */
  handle(request: MatchedRequest): Promise<unknown>;
}

interface Validator {
  (data: unknown): boolean;
  errors?: { instancePath: string; message?: string; params?: Record<string, unknown> }[] | null;
}

/** What openapi-backend calls a request, with ours inside. */
interface Prepared extends EngineRequest {
  matched: MatchedRequest;
  params: Record<string, string>;
  query: Record<string, never>;
  headers: { version: never };
  requestBody: unknown;
}

export async function createEngine(handlers: Handlers): Promise<Engine> {
  const backend = new OpenAPIBackend({
    definition: { openapi: '3.1.0', info: { title: 'Shoal', version: '2.99' }, paths: {} },
    quick: true,
    strict: true,
    handlers: {
      postRoutingHandler: (context: EngineContext) => authorize(matched(context)),
      validationFail: (context: EngineContext) => refuse(context),
    },
  });
  await backend.init();

  const engineOperations = new Map(
    Object.values(operations).map((operation) => [
      operation.id as string,
      {
        operationId: operation.id,
        path: operation.paths[0]!.path,
        method: operation.method.toLowerCase(),
        responses: {},
      },
    ]),
  );
  const router = backend.router as unknown as Record<string, unknown>;
  router.matchOperation = (request: Prepared) => engineOperations.get(request.matched.operation.id);
  router.getOperation = (id: string) => engineOperations.get(id);
  router.getOperations = () => [...engineOperations.values()];
  router.parseRequest = (request: Prepared) => request;
  router.parseRequestQuery = (request: Prepared) => request.query;
  const validators = new Map<string, Validator[]>();
  backend.validator.validateRequest = ((request: Prepared, { operationId }: { operationId: string }) => {
    const { query, headers, requestBody } = request;
    for (const validate of validators.get(operationId)!)
      if (!validate({ query, header: headers, requestBody }))
        return { valid: false, errors: validate.errors };
    return { valid: true, errors: null };
  }) as never;
  for (const operation of Object.values(operations)) {
    validators.set(operation.id, requestValidators(operation));
    const handler = handlers[operation.id] as ((request: unknown) => Promise<unknown>) | undefined;
    if (!handler) continue;
    backend.register(operation.id, (context: EngineContext) => {
      const { ctx, params, query, body } = matched(context);
      return handler({
        ctx,
        path: params,
        query: operation.query?.schema ? narrow(operation.query.schema, query, ctx.version) : query,
        body: content(operation, body, ctx.version),
      });
    });
  }

  return {
    handle(request) {
      const prepared: Prepared = {
        matched: request,
        method: request.operation.method,
        path: '/',
        params: request.params,
        query: request.query as never,
        headers: { version: request.ctx.version as never },
        body: request.body,
        requestBody: request.body,
      };
      return backend.handleRequest(prepared);
    },
  };
}

function matched(context: EngineContext): MatchedRequest {
  return (context.request as unknown as Prepared).matched;
}

function authorize({ operation, ctx }: MatchedRequest): void {
  if (operation.policy) ctx.authorize(operation.policy);
}

/** The entity or the action's value, cut to the caller's version: what handlers take as the body. */
function content(operation: Operation, body: unknown, version: number): unknown {
  if (!operation.body) return undefined;
  const entity = entityOf(operation, body);
  const { schema } = operation.body;
  return schema && isObject(entity) ? narrow(schema, entity, version) : entity;
}

function entityOf({ actions, body: declared }: Operation, body: unknown): unknown {
  if (actions) return Object.values(body as object)[0];
  if (!declared || declared.key === null) return body;
  if (!isObject(body)) return undefined;
  return body[declared.key] ?? (declared.also === undefined ? undefined : body[declared.also]);
}

/** Validators as ajv makes them: given the parsed parts, they leave their errors on themselves. */
function requestValidators(operation: Operation): Validator[] {
  const list: Validator[] = [];
  if (operation.query) list.push(validatorOf(operation.query.windows, 'query'));
  if (operation.body) {
    const { key, missing } = operation.body;
    const schema = validatorOf(operation.body.windows, 'requestBody');
    const validate: Validator = (parts) => {
      const entity = entityOf(operation, (parts as { requestBody: unknown }).requestBody);
      if (key !== null && missing === 422 && !isObject(entity)) throw fault('unprocessable', { key });
      const valid = schema({ ...(parts as object), requestBody: entity });
      validate.errors = schema.errors;
      return valid;
    };
    list.push(validate);
  }
  return list;
}

function validatorOf(
  windows: readonly { since: number; until: number; validator: string }[],
  part: 'query' | 'requestBody',
): Validator {
  const made = windows.map((window) => ({
    ...window,
    check: (generated as unknown as Record<string, Validator>)[window.validator]!,
  }));
  const validate: Validator = (parts) => {
    const all = parts as Record<string, unknown> & { header: { version: number } };
    const { version } = all.header;
    const check = made.find(({ since, until }) => version >= since && version <= until)?.check;
    const valid = check ? check(all[part]) : true;
    validate.errors = valid
      ? null
      : (check!.errors ?? []).map((e) => ({ ...e, instancePath: `/${part}${e.instancePath}` }));
    return valid;
  };
  return validate;
}

/** The first thing wrong with the request, in words: where it stands and what is expected there. */
function refuse(context: EngineContext): never {
  const [error] = (context.validation.errors ?? []) as {
    instancePath?: string;
    keyword?: string;
    message?: string;
    params?: Record<string, unknown>;
  }[];
  const [, part, ...where] = (error?.instancePath ?? '').split('/');
  const extra = error?.params?.additionalProperty ?? error?.params?.allowedValues;
  // A field that the contract refuses at some versions has no schema there.
  const message = error?.keyword === 'false schema' ? 'is not known at this version' : error?.message;
  const reason = `${message ?? 'not valid'}${extra === undefined ? '' : ` (${Array.isArray(extra) ? extra.join(', ') : String(extra)})`}`;
  throw fault(part === 'query' ? 'invalidQuery' : 'invalidBody', {
    where: where.join('.') || 'the whole',
    reason,
  });
}
