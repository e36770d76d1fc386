/**
 * The order every request takes: token, path, version, action, project in the path, operation, body, and the engine.
 * What fails is thrown as a Fault, or is answered plainly where no operation is known yet.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fault } from '#domain/faults.ts';
import type { Operation } from '#generated/operations.ts';
import type { Identity } from '../identity/identity.ts';
import { nothingThere, send, unauthorized } from './answer.ts';
import { isObject, parseBody } from './body.ts';
import { RequestCtx, type Shared } from './ctx.ts';
import type { Engine } from './engine.ts';
import { segmentsOf, splitUrl } from './path.ts';
import type { Progress } from './progress.ts';
import { type LinkBases, writeAnswer } from './projection.ts';
import { type Match, matchPath, paramsFor } from './router.ts';
import { EXPERIMENTAL_HEADER, isVersion, readVersion, VERSION_HEADER } from './version.ts';
import { versionDocument } from './versions.ts';

export interface RouteOptions {
  shared: Shared;
  engine: Engine;
  identity: Identity;
  /** which texts in a path's first segment are taken for a project id */
  projectIdRegex: string;
  /** the address clients are told; made from the Host header when null */
  endpoint: string | null;
  /** adds `X-Shoal-Statements`, the number of SQL statements a request took */
  showStatements: boolean;
}

/** Answers every request that isn't for the root or the health check. */
export function router(
  options: RouteOptions,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const projectId = new RegExp(`^(?:${options.projectIdRegex})$`);
  return (request, reply) => route(request, reply, options, projectId);
}

async function route(
  request: FastifyRequest,
  reply: FastifyReply,
  options: RouteOptions,
  projectId: RegExp,
): Promise<unknown> {
  const { progress } = request;
  const [path, search = ''] = splitUrl(request.raw.url!);
  const segments = segmentsOf(path);
  if (segments?.[0] !== 'v2') return nothingThere(reply);
  if (segments.length === 1)
    return reply
      .code(302)
      .header('Location', `${endpointOf(request, options)}/v2/`)
      .type('text/plain')
      .send('');
  if (request.method === 'OPTIONS') return reply.code(200).send('');

  const caller = await options.identity.authenticate(header(request, 'x-auth-token'), progress.requestId);
  if (!caller) return unauthorized(reply, options.identity);
  progress.caller = caller;

  const rest = segments.slice(1);
  const root = rest.length === 1 && rest[0] === '';
  const found = root ? null : find(request.method, rest, projectId);
  if (found === undefined) return nothingThere(reply);

  progress.experimental = header(request, EXPERIMENTAL_HEADER.toLowerCase())?.toLowerCase() === 'true';
  const asked = header(request, VERSION_HEADER.toLowerCase());
  // Repeated even when it is refused for being out of range; a malformed one is not.
  if (asked === undefined || isVersion(asked)) progress.versionText = asked ?? '2.0';
  progress.version = readVersion(asked);
  const endpoint = endpointOf(request, options);
  if (!found) return send(reply, progress, 200, versionDocument(endpoint));

  const query = search === '' ? {} : Object.fromEntries(new URLSearchParams(search));
  const { operation, params, body } = select(request, found, progress);
  progress.operation = operation;
  const ctx = new RequestCtx(options.shared, caller, {
    id: progress.requestId,
    version: progress.version,
    links: linkBases(endpoint, found.projectId),
    url: request.raw.url!,
  });
  progress.ctx = ctx;
  progress.showStatements = options.showStatements;
  const result = await options.engine.handle({ operation, params, query, body, ctx });
  return send(reply, progress, ctx.status ?? operation.success, writeAnswer(operation, result, ctx));
}

/** The operation among those that share this path and method: by action name, for the caller's project, by version. */
function select(
  request: FastifyRequest,
  { match, projectId }: Found,
  progress: Progress,
): { operation: Operation; params: Record<string, string>; body: unknown } {
  const version = progress.version!;
  const isAction = match.candidates.some(({ operation }) => operation?.actions);
  let name: string | undefined;
  let body: unknown;
  if (isAction) {
    body = parseBody(request.body as Buffer | undefined, header(request, 'content-type'));
    const keys = isObject(body) ? Object.keys(body) : [];
    if (keys.length !== 1) throw fault('oneAction', { count: keys.length });
    name = keys[0]!;
    if (
      !match.candidates.some(({ operation }) => operation?.actions?.some((action) => action.name === name))
    ) {
      throw fault('unknownAction', { action: name, version: `2.${version}` }, 400);
    }
  }
  if (projectId !== undefined && projectId !== progress.caller!.projectId) throw fault('wrongProjectInUrl');
  const candidate = match.candidates.find(({ operation, since, until }) => {
    if (!operation || version < since || version > until) return false;
    if (version < operation.since || version > operation.until) return false;
    return (
      !operation.actions ||
      operation.actions.some((a) => a.name === name && version >= a.since && version <= a.until)
    );
  });
  if (!candidate) throw fault('notFound');
  const operation = candidate.operation!;
  if (!progress.experimental && operation.experimental?.some((w) => version >= w.since && version <= w.until))
    throw fault('notFound');
  if (!isAction && operation.body)
    body = parseBody(request.body as Buffer | undefined, header(request, 'content-type'));
  return { operation, params: paramsFor(match, candidate), body };
}

interface Found {
  match: Match;
  /** as the path has it */
  projectId?: string;
}

/** With and without the project id in front; a `.json` at the end, which some clients append, says nothing. */
function find(method: string, segments: readonly string[], projectId: RegExp): Found | undefined {
  const last = segments.at(-1)!;
  if (last.endsWith('.json'))
    return find(method, segments.with(-1, last.slice(0, -'.json'.length)), projectId);
  const bare = matchPath(method, segments);
  if (bare) return { match: bare };
  if (segments.length < 2 || !projectId.test(segments[0]!)) return undefined;
  const match = matchPath(method, segments.slice(1));
  return match && { match, projectId: segments[0]! };
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The service's own address, as this client reaches it. */
export function endpointOf(request: FastifyRequest, options: RouteOptions): string {
  return options.endpoint ?? `http://${request.headers.host ?? 'localhost'}`;
}

function linkBases(endpoint: string, projectId: string | undefined): LinkBases {
  const project = projectId === undefined ? '' : `/${projectId}`;
  return { self: `${endpoint}/v2${project}`, bookmark: `${endpoint}${project}` };
}
