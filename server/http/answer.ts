/** Sending answers, refusals and what went wrong. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseAway } from '#db/databaseAway.ts';
import { Fault, fault } from '#domain/faults.ts';
import type { Identity } from '../identity/identity.ts';
import { faultBody, plainBody, unauthorizedBody } from './faults.ts';
import type { Progress } from './progress.ts';
import { EXPERIMENTAL_HEADER, VERSION_HEADER } from './version.ts';

export const BODY_LIMIT = 114_688;

const asItIs = (body: unknown): string => body as string;

/** A JSON body. With a serializer of its own, fastify doesn't append a charset that the API doesn't have. */
export function json(reply: FastifyReply, status: number, body: string): FastifyReply {
  return reply.code(status).header('Content-Type', 'application/json').serializer(asItIs).send(body);
}

/** Every answer names its request, so that its lines in the logs can be found. */
export function identified(reply: FastifyReply, requestId: string): FastifyReply {
  return reply.header('x-openstack-request-id', requestId);
}

/** Sends an answer under /v2 with the headers that all of them carry. */
export function send(reply: FastifyReply, progress: Progress, status: number, body: string): FastifyReply {
  reply.header('x-compute-request-id', progress.requestId);
  if (progress.versionText !== undefined) {
    reply.header(VERSION_HEADER, progress.versionText);
    if (progress.experimental) reply.header(EXPERIMENTAL_HEADER, 'True');
    reply.header('Vary', VERSION_HEADER);
  }
  if (progress.showStatements) reply.header('X-Shoal-Statements', progress.ctx!.db.statements);
  return body === '' ? reply.code(status).send('') : json(reply, status, body);
}

/** What no route matches. */
export function nothingThere(reply: FastifyReply): FastifyReply {
  return json(reply, 404, plainBody(404, 'Not Found', 'The resource could not be found.'));
}

export function unauthorized(reply: FastifyReply, identity: Identity): FastifyReply {
  reply.header('WWW-Authenticate', identity.challenge);
  return json(reply, 401, unauthorizedBody('The request needs a valid token in X-Auth-Token.'));
}

/** Whatever was thrown, as the client may know it. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { progress } = request;
  if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const text = `The request body is larger than ${BODY_LIMIT} bytes.`;
    return json(reply, 413, plainBody(413, 'Request Entity Too Large', text));
  }
  const known = asFault(error);
  if (known.status >= 500) progress.error = error;
  if (known.retryAfter !== undefined) reply.header('Retry-After', String(known.retryAfter));
  return send(reply, progress, known.status, faultBody(known));
}

/** Values that the database can't hold are the client's mistake, found late: the column says where. */
const VALUE_ERRORS = new Set([1264, 1292, 1300, 1366, 1406, 3988]);

/** Anything unforeseen is a 500 without details. */
function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const { errno, sqlMessage, statusCode, message } = error as {
    errno?: number;
    sqlMessage?: string;
    statusCode?: number;
    message: string;
  };
  if (errno !== undefined && VALUE_ERRORS.has(errno)) {
    const column = /column .*?[`']?(\w+)[`']? at row/i.exec(sqlMessage ?? '')?.[1];
    const which = column ? ` as ${column}` : '';
    return fault('invalidInput', {
      reason: `a value can't be stored${which}: it is too long, out of range or has characters outside the Basic Multilingual Plane`,
    });
  }
  if (error instanceof DatabaseAway)
    return new Fault('unavailable', { reason: 'the database does not answer' }, undefined, 1);
  if (statusCode !== undefined && statusCode < 500)
    return fault('invalidInput', { reason: message }, statusCode);
  return fault('internal');
}
