/** Services: what runs behind the API, whether it was heard of lately, and whether it takes new work. */
import { enqueue } from '#db/outbox.ts';
import {
  beginEnsuring,
  listServices,
  type ServiceRow,
  setServiceDisabled,
  shareServices,
} from '#db/services.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { isUp, shareQueue } from '#domain/services.ts';
import { serviceJobs } from '#domain/shares.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';

export const services = {
  async listServices({ ctx, query }) {
    const rows = await listServices(ctx.db);
    return { services: rows.map((row) => shown(ctx, row)).filter((service) => matches(service, query)) };
  },

  async updateService({ ctx, path, body }) {
    const isDisabling = path.id === 'disable';
    if (!isDisabling && path.id !== 'enable') throw fault('notFound');
    const service = { host: String(body.host), binary: String(body.binary) };
    const reason = isDisabling ? readReason(body.disabled_reason) : null;
    if (!(await setServiceDisabled(ctx.db, service, isDisabling, reason)))
      throw fault('serviceNotFound', service);
    return {
      ...service,
      status: isDisabling ? 'disabled' : 'enabled',
      disabled_reason: reason,
      ensuring: null,
    };
  },

  async ensureShares({ ctx, body }) {
    const { host } = body;
    const service = (await shareServices(ctx.db)).find((each) => each.host === host);
    if (!service) throw fault('serviceNotFound', { binary: 'manila-share', host });
    if (!isUp(service, ctx.settings.service_down_time))
      throw fault('conflict', { reason: `The share service on ${host} is down.` });
    await ctx.transaction(async (tx) => {
      if (!(await beginEnsuring(tx, service.id)))
        throw fault('conflict', { reason: `The share service on ${host} is ensuring its shares already.` });
      await enqueue(tx, {
        queue: shareQueue(host),
        kind: serviceJobs.ensure,
        resource: `service-${service.id}`,
        payload: jobFor(ctx, { host, serviceId: service.id }),
      });
    });
  },
} satisfies Partial<Handlers>;

function shown(ctx: Ctx, row: ServiceRow): Schemas['Service'] {
  return {
    id: row.id,
    binary: row.binary,
    host: row.host,
    zone: row.availability_zone as string,
    status: row.disabled ? 'disabled' : 'enabled',
    state: isUp(row, ctx.settings.service_down_time) ? 'up' : 'down',
    updated_at: row.updated_at,
    disabled_reason: row.disabled_reason,
    ensuring: row.ensuring,
  };
}

/** Texts are compared whatever their case, as the database would. */
function matches(service: Schemas['Service'], query: Schemas['ServiceFilter']): boolean {
  const { ensuring, ...texts } = query;
  const same = (given: unknown, asked: string) => String(given).toLowerCase() === asked.toLowerCase();
  if (ensuring !== undefined && asBoolean(ensuring) !== service.ensuring) return false;
  return Object.entries(texts).every(([key, asked]) => same(service[key as keyof typeof texts], asked));
}

/** A reason may be left out, but not an empty-looking one. */
function readReason(reason: string | null | undefined): string | null {
  if (!reason) return null;
  if (reason.trim() === '')
    throw fault('invalidBody', { where: 'disabled_reason', reason: 'must not be blank' });
  return reason;
}
