/** Specs of share group types: what a back end must offer for groups of the type. For administrators only. */
import type { Tx } from '#db/connection.ts';
import {
  findShareGroupType,
  lockShareGroupType,
  putGroupSpecs,
  removeGroupSpecs,
} from '#db/shareGroupTypes.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { assertOneSpec, assertSpecKeys, asTexts } from './specs.ts';

export const groupSpecs = {
  async listGroupSpecs({ ctx, path }) {
    return { group_specs: await specsOf(ctx, path.id) };
  },

  async createGroupSpecs({ ctx, path, body }) {
    assertSpecKeys(body);
    await set(ctx, path.id, body);
    return { group_specs: body };
  },

  async getGroupSpec({ ctx, path }) {
    const specs = await specsOf(ctx, path.id);
    if (!Object.hasOwn(specs, path.key)) throw noSpec(path);
    return { [path.key]: specs[path.key]! };
  },

  async updateGroupSpec({ ctx, path, body }) {
    assertOneSpec(body, path.key);
    await set(ctx, path.id, body);
    return body;
  },

  async deleteGroupSpec({ ctx, path }) {
    await ctx.transaction(async (tx) => {
      await lock(tx, path.id);
      if ((await removeGroupSpecs(tx, path.id, [path.key])) === 0) throw noSpec(path);
    });
  },
} satisfies Partial<Handlers>;

async function specsOf(ctx: Ctx, id: string): Promise<Record<string, string | null>> {
  const type = await findShareGroupType(ctx.db, id, null);
  if (!type) throw fault('shareGroupTypeNotFound', { id });
  return type.group_specs;
}

async function lock(tx: Tx, id: string): Promise<void> {
  if (!(await lockShareGroupType(tx, id))) throw fault('shareGroupTypeNotFound', { id });
}

async function set(ctx: Ctx, id: string, given: Readonly<Record<string, string | boolean>>): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lock(tx, id);
    await putGroupSpecs(tx, id, asTexts(given));
  });
}

function noSpec({ id, key }: { id: string; key: string }) {
  return fault('specNotFound', { what: 'Share group type', id, key });
}
