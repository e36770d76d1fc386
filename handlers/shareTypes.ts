/** Share types: what kinds of shares there are, and who sees what of them. */
import { randomUUID } from 'node:crypto';
import {
  findShareType,
  findShareTypeByNameOrId,
  insertShareType,
  isShareTypeUsed,
  listShareTypes,
  lockShareType,
  removeShareType,
  type ShareTypeRow,
  type ShareTypeScope,
  updateShareType,
} from '#db/shareTypes.ts';
import { asBoolean, readBoolean } from '#domain/booleans.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import { checkNewTypeSpecs, REQUIRED_SPEC } from '#domain/shareTypeSpecs.ts';
import { answersSearch, openSpecs } from '#domain/shareTypes.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';

export const shareTypes = {
  async listShareTypes({ ctx, query }) {
    const types = await listShareTypes(ctx.db, typeScope(ctx, query.is_public));
    const asked = searchedSpecs(query.extra_specs, 'extra_specs');
    return {
      share_types: types
        .filter((type) => answersSearch(type.extra_specs, asked))
        .map((type) => shown(ctx, type)),
    };
  },

  async getDefaultShareType({ ctx }) {
    const { default_share_type } = ctx.settings;
    const type = default_share_type && (await findShareTypeByNameOrId(ctx.db, default_share_type, null));
    if (!type) throw fault('noDefaultShareType');
    return { share_type: shown(ctx, type) };
  },

  async getShareType({ ctx, path }) {
    const type = await findShareType(ctx.db, path.id, ctx.isAdmin ? null : ctx.projectId);
    if (!type) throw fault('shareTypeNotFound', { id: path.id });
    return { share_type: shown(ctx, type) };
  },

  async createShareType({ ctx, body }) {
    const name = readName(body.name);
    const given: Record<string, unknown> = { ...body.extra_specs };
    if (ctx.allows('snapshotSupportRequired')) given.snapshot_support ??= 'True';
    const checked = checkNewTypeSpecs(given);
    if ('problem' in checked) throw fault('invalidExtraSpec', { ...checked.problem });
    const type = {
      id: randomUUID(),
      name,
      description: body.description ?? null,
      isPublic: readPublic(body.is_public) ?? true,
      specs: checked.specs,
    };
    await ctx.transaction(async (tx) => {
      if (!(await insertShareType(tx, type))) throw nameTaken(name);
    });
    const view = shown(ctx, { ...type, is_public: type.isPublic, extra_specs: type.specs });
    // As it was sent, a boolean included: so has this answer always been.
    view.required_extra_specs = { [REQUIRED_SPEC]: given[REQUIRED_SPEC] as string | boolean };
    return { share_type: view };
  },

  async updateShareType({ ctx, path, body }) {
    const { description } = body;
    const isPublic = readPublic(body.is_public);
    const name = body.name === null || body.name === undefined ? undefined : readName(body.name);
    if (name === undefined && (description ?? undefined) === undefined && isPublic === undefined) {
      throw fault('invalidShareType', {
        reason: 'name, description or share_type_access:is_public must be given.',
      });
    }
    const changes = {
      ...(name === undefined ? {} : { name }),
      // An empty description is none.
      ...(typeof description === 'string' ? { description: description || null } : {}),
      ...(isPublic === undefined ? {} : { isPublic }),
    };
    const type = await ctx.transaction(async (tx) => {
      if (!(await lockShareType(tx, path.id))) throw fault('shareTypeNotFound', { id: path.id });
      if (!(await updateShareType(tx, path.id, changes))) throw nameTaken(name!);
      return (await findShareType(tx, path.id, null))!;
    });
    return { share_type: shown(ctx, type) };
  },

  async deleteShareType({ ctx, path }) {
    await ctx.transaction(async (tx) => {
      if (!(await lockShareType(tx, path.id))) throw fault('shareTypeNotFound', { id: path.id });
      if (await isShareTypeUsed(tx, path.id)) {
        throw fault('invalidShareType', { reason: `${path.id} is in use and can't be deleted.` });
      }
      await removeShareType(tx, path.id);
    });
  },
} satisfies Partial<Handlers>;

/** The type as the caller may see it. */
function shown(
  ctx: Ctx,
  type: Pick<ShareTypeRow, 'id' | 'name' | 'description' | 'is_public' | 'extra_specs'>,
): Schemas['ShareType'] {
  const { id, name, description, is_public, extra_specs } = type;
  const required = extra_specs[REQUIRED_SPEC];
  const unset = {
    shown: ctx.allows('inferredExtraSpecs'),
    accessInheritance: ctx.allows('snapshotAccessInheritance'),
  };
  return {
    id,
    name,
    description,
    is_public,
    extra_specs: ctx.isAdmin ? extra_specs : openSpecs(extra_specs, unset),
    required_extra_specs: required === undefined ? {} : { [REQUIRED_SPEC]: required },
    is_default: name === ctx.settings.default_share_type,
  };
}

/** Admins choose; others always get what their project may use. */
export function typeScope(ctx: Ctx, isPublic: string | undefined): ShareTypeScope {
  if (!ctx.isAdmin || isPublic === undefined) return { usableBy: ctx.projectId };
  if (isPublic.toLowerCase() === 'all') return 'all';
  const wanted = asBoolean(isPublic);
  if (wanted === undefined) {
    throw fault('invalidQuery', {
      where: 'is_public',
      reason: `must be true, false or all, not ${JSON.stringify(isPublic)}`,
    });
  }
  return wanted ? { usableBy: ctx.projectId } : 'private';
}

/** Specs that a list is narrowed by. */
export function searchedSpecs(text: string | undefined, where: string): Record<string, unknown> {
  if (text === undefined || text === '') return {};
  const specs = readDict(text);
  if (!specs) throw fault('invalidQuery', { where, reason: 'must be a JSON object of texts' });
  return specs;
}

function readName(name: string | null | undefined): string {
  if (!name?.trim())
    throw fault('invalidShareType', { reason: 'name must be a text of 1 to 255 characters.' });
  return name;
}

function readPublic(value: unknown): boolean | undefined {
  return value === undefined || value === null
    ? undefined
    : readBoolean(value, 'share_type_access:is_public');
}

function nameTaken(name: string) {
  return fault('conflict', { reason: `A share type named ${name} exists already.` });
}
