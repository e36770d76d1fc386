/**
 * The HTTP server: fastify in front (body limit, CORS, graceful close, one line of log for each request), then
 * route.ts for all that is the API's.
 */
import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { answerError, BODY_LIMIT, identified, json, nothingThere } from './answer.ts';
import { logEntry, type RequestLogEntry } from './progress.ts';
import { endpointOf, type RouteOptions, router } from './route.ts';
import { EXPERIMENTAL_HEADER, VERSION_HEADER } from './version.ts';
import { versionDocument } from './versions.ts';

export interface AppOptions extends RouteOptions {
  allowedOrigins: readonly string[];
  log(entry: RequestLogEntry): void;
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    genReqId: () => '',
    exposeHeadRoutes: false,
    // A path that can't be decoded: no hook has seen it.
    frameworkErrors: (_error, _request, reply) =>
      nothingThere(identified(reply as unknown as FastifyReply, newRequestId())),
  });
  app.decorateRequest('progress');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  );
  if (options.allowedOrigins.length > 0) await app.register(cors, corsOptions(options.allowedOrigins));

  app.addHook('onRequest', (request, reply, done) => {
    const requestId = newRequestId();
    identified(reply, requestId);
    request.progress = { requestId, started: performance.now(), experimental: false };
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    options.log(logEntry(request, reply.statusCode));
    done();
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  app.get('/healthcheck', (request, reply) => {
    if (request.headers.accept?.includes('application/json')) {
      json(reply, 200, JSON.stringify({ detailed: false, reasons: ['OK'] }));
    } else {
      reply.type('text/plain; charset=UTF-8').send('OK');
    }
  });
  app.get('/', (request, reply) => {
    json(reply, 300, versionDocument(endpointOf(request, options)));
  });
  app.route({
    method: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'],
    url: '/*',
    handler: router(options),
  });
  return app;
}

const newRequestId = () => `req-${randomUUID()}`;

function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Content-Type', 'X-Auth-Token', VERSION_HEADER, EXPERIMENTAL_HEADER],
    exposedHeaders: [VERSION_HEADER, 'X-OpenStack-Request-ID'],
  };
}
