/** Share group types: which share types go together, and who sees what of it. */
import { randomUUID } from 'node:crypto';
import {
  findShareGroupType,
  findShareGroupTypeByNameOrId,
  insertShareGroupType,
  isShareGroupTypeUsed,
  listShareGroupTypes,
  lockShareGroupType,
  removeShareGroupType,
  type ShareGroupTypeRow,
} from '#db/shareGroupTypes.ts';
import { findShareTypeByNameOrId } from '#db/shareTypes.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { searchedSpecs, typeScope } from './shareTypes.ts';

export const shareGroupTypes = {
  async listShareGroupTypes({ ctx, query }) {
    const types = await listShareGroupTypes(ctx.db, typeScope(ctx, query.is_public));
    const asked = Object.entries(searchedSpecs(query.group_specs, 'group_specs'));
    const found = types.filter(({ group_specs }) =>
      asked.every(([key, value]) => group_specs[key] === value),
    );
    return { share_group_types: found.map((type) => shown(ctx, type)) };
  },

  async getDefaultShareGroupType({ ctx }) {
    const type = await defaultShareGroupType(ctx);
    if (!type) throw fault('noDefaultShareGroupType');
    return { share_group_type: shown(ctx, type) };
  },

  async getShareGroupType({ ctx, path }) {
    const type = await findShareGroupType(ctx.db, path.id, ctx.isAdmin ? null : ctx.projectId);
    if (!type) throw fault('shareGroupTypeNotFound', { id: path.id });
    return { share_group_type: shown(ctx, type) };
  },

  async createShareGroupType({ ctx, body }) {
    const { name } = body;
    if (!name?.trim()) {
      throw fault('invalidShareGroupType', { reason: 'name must be a text of 1 to 255 characters' });
    }
    if (!body.share_types?.length) {
      throw fault('invalidShareGroupType', { reason: 'share_types must name at least one share type' });
    }
    const shareTypes: string[] = [];
    for (const nameOrId of new Set(body.share_types)) {
      const type = await findShareTypeByNameOrId(ctx.db, nameOrId, null);
      if (!type) throw fault('shareTypeNotFound', { id: nameOrId });
      shareTypes.push(type.id);
    }
    const type = {
      id: randomUUID(),
      name,
      isPublic: isPublic(body.is_public),
      specs: body.group_specs ?? {},
      shareTypes,
    };
    const made = await ctx.transaction(async (tx) => {
      if (!(await insertShareGroupType(tx, type)))
        throw fault('conflict', { reason: `A share group type named ${name} exists already.` });
      return (await findShareGroupType(tx, type.id, null))!;
    });
    return { share_group_type: shown(ctx, made) };
  },

  async deleteShareGroupType({ ctx, path }) {
    await ctx.transaction(async (tx) => {
      if (!(await lockShareGroupType(tx, path.id))) throw fault('shareGroupTypeNotFound', { id: path.id });
      if (await isShareGroupTypeUsed(tx, path.id)) {
        throw fault('invalidShareGroupType', { reason: `${path.id} is in use and can't be deleted` });
      }
      await removeShareGroupType(tx, path.id);
    });
  },
} satisfies Partial<Handlers>;

/** The type that groups get when none is named; undefined when there is none. */
export async function defaultShareGroupType(ctx: Ctx): Promise<ShareGroupTypeRow | undefined> {
  const { default_share_group_type: name } = ctx.settings;
  return name === null ? undefined : findShareGroupTypeByNameOrId(ctx.db, name);
}

function shown(ctx: Ctx, type: ShareGroupTypeRow): Schemas['ShareGroupType'] {
  return { ...type, is_default: type.name === ctx.settings.default_share_group_type };
}

function isPublic(value: unknown): boolean {
  return value === undefined || value === null ? true : readBoolean(value, 'is_public');
}
