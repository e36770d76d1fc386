/** QoS types and their specs: all projects see the types, administrators alone make them. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import {
  describeQosType,
  findQosType,
  insertQosType,
  isQosTypeUsed,
  listQosTypes,
  lockQosType,
  putQosSpecs,
  type QosTypeRow,
  qosTypeIs,
  qosTypeSortKeys,
  removeQosSpecs,
  removeQosType,
} from '#db/qosTypes.ts';
import type { Sql } from '#db/sql.ts';
import { fault } from '#domain/faults.ts';
import { readOrder, readPage } from '#domain/paging.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { assertOneSpec, assertSpecKeys, asTexts } from './specs.ts';

export const qosTypes = {
  async listQosTypes({ ctx, query }) {
    const found = await listQosTypes(ctx.db, {
      where: conditions(query),
      order: readOrder(query, qosTypeSortKeys),
      page: readPage(query, ctx.settings.osapi_max_limit),
    });
    return { qos_types: found };
  },

  async getQosType({ ctx, path }) {
    return { qos_type: await typeOf(ctx, path.id) };
  },

  async createQosType({ ctx, body }) {
    const { name, description = null } = body;
    const id = randomUUID();
    const specs = asTexts(body.specs ?? {});
    const type = await ctx.transaction(async (tx) => {
      if (!(await insertQosType(tx, { id, name, description, specs })))
        throw fault('conflict', { reason: `A QoS type named ${name} exists already.` });
      return (await findQosType(tx, id))!;
    });
    return { qos_type: type };
  },

  async updateQosType({ ctx, path, body }) {
    const { description } = body;
    if (description !== undefined) {
      await ctx.transaction(async (tx) => {
        await lock(tx, path.id);
        await describeQosType(tx, path.id, description);
      });
    }
    return { qos_type: await typeOf(ctx, path.id) };
  },

  async deleteQosType({ ctx, path }) {
    await ctx.transaction(async (tx) => {
      await lock(tx, path.id);
      if (await isQosTypeUsed(tx, path.id)) {
        throw fault('invalidQosType', { reason: `shares have ${path.id}, so it can't be deleted` });
      }
      await removeQosType(tx, path.id);
    });
  },

  async listQosSpecs({ ctx, path }) {
    return { specs: (await typeOf(ctx, path.id)).specs };
  },

  async createQosSpecs({ ctx, path, body }) {
    assertSpecKeys(body);
    await set(ctx, path.id, body);
    return { specs: body };
  },

  async getQosSpec({ ctx, path }) {
    const { specs } = await typeOf(ctx, path.id);
    if (!Object.hasOwn(specs, path.key)) throw noSpec(path);
    return { [path.key]: specs[path.key]! };
  },

  async updateQosSpec({ ctx, path, body }) {
    assertOneSpec(body, path.key);
    await set(ctx, path.id, body);
    return body;
  },

  async deleteQosSpec({ ctx, path }) {
    await ctx.transaction(async (tx) => {
      await lock(tx, path.id);
      if ((await removeQosSpecs(tx, path.id, [path.key])) === 0) throw noSpec(path);
    });
  },
} satisfies Partial<Handlers>;

function conditions(query: Operations['listQosTypes']['query']): Sql[] {
  const { name, description, 'name~': partOfName, 'description~': partOfDescription } = query;
  return [
    ...(name === undefined ? [] : [qosTypeIs.named(name)]),
    ...(partOfName === undefined ? [] : [qosTypeIs.namedLike(partOfName)]),
    ...(description === undefined ? [] : [qosTypeIs.described(description)]),
    ...(partOfDescription === undefined ? [] : [qosTypeIs.describedLike(partOfDescription)]),
  ];
}

async function typeOf(ctx: Ctx, id: string): Promise<QosTypeRow> {
  const type = await findQosType(ctx.db, id);
  if (!type) throw fault('qosTypeNotFound', { id });
  return type;
}

async function lock(tx: Tx, id: string): Promise<void> {
  if (!(await lockQosType(tx, id))) throw fault('qosTypeNotFound', { id });
}

async function set(ctx: Ctx, id: string, given: Readonly<Record<string, string | boolean>>): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lock(tx, id);
    await putQosSpecs(tx, id, asTexts(given));
  });
}

function noSpec({ id, key }: { id: string; key: string }) {
  return fault('specNotFound', { what: 'QoS type', id, key });
}
