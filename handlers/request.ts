/** The shape of a handler: what an operation of the contract takes and answers. */
import type { OperationId, Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';

export interface Request<Id extends OperationId> {
  ctx: Ctx;
  path: Operations[Id]['path'];
  query: Operations[Id]['query'];
  body: Operations[Id]['body'];
}

export type Handler<Id extends OperationId> = (request: Request<Id>) => Promise<Operations[Id]['result']>;

/** Every operation of the contract has one: handlers/index.ts satisfies this, or doesn't compile. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
