/** Extra specs of share types; for administrators only. */
import { findShareType, lockShareType, putSpecs, removeSpecs } from '#db/shareTypes.ts';
import { fault } from '#domain/faults.ts';
import { checkSpecs, REQUIRED_SPEC } from '#domain/shareTypeSpecs.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { assertOneSpec, assertSpecKeys } from './specs.ts';

type Given = Readonly<Record<string, string | boolean>>;

export const extraSpecs = {
  async listExtraSpecs({ ctx, path }) {
    return { extra_specs: await specsOf(ctx, path.type_id) };
  },

  async getExtraSpec({ ctx, path }) {
    const specs = await specsOf(ctx, path.type_id);
    if (!Object.hasOwn(specs, path.id))
      throw fault('specNotFound', { what: 'Share type', id: path.type_id, key: path.id });
    return { [path.id]: specs[path.id]! };
  },

  async createExtraSpecs({ ctx, path, body }) {
    const given: Given = body;
    assertSpecKeys(given);
    return { extra_specs: await set(ctx, path.type_id, given) };
  },

  async updateExtraSpec({ ctx, path, body }) {
    const given: Given = body;
    assertOneSpec(given, path.id);
    return set(ctx, path.type_id, given);
  },

  async deleteExtraSpec({ ctx, path }) {
    const isNeeded =
      path.id === REQUIRED_SPEC || (path.id === 'snapshot_support' && ctx.allows('snapshotSupportRequired'));
    if (isNeeded) throw fault('notAllowed', { reason: `Extra spec ${path.id} can't be deleted.` });
    await ctx.transaction(async (tx) => {
      await lockType(tx, path.type_id);
      const removed = await removeSpecs(tx, path.type_id, [path.id]);
      if (removed === 0) throw fault('specNotFound', { what: 'Share type', id: path.type_id, key: path.id });
    });
  },
} satisfies Partial<Handlers>;

async function specsOf(ctx: Ctx, id: string): Promise<Record<string, string | null>> {
  const type = await findShareType(ctx.db, id, null);
  if (!type) throw fault('shareTypeNotFound', { id });
  return type.extra_specs;
}

async function lockType(tx: Parameters<typeof lockShareType>[0], id: string): Promise<void> {
  if (!(await lockShareType(tx, id))) throw fault('shareTypeNotFound', { id });
}

/** Writes the specs; answers them as they were given, but for what was tidied. */
async function set(ctx: Ctx, id: string, given: Given): Promise<Record<string, string | boolean | null>> {
  const checked = checkSpecs(given);
  if ('problem' in checked) throw fault('invalidExtraSpec', { ...checked.problem });
  const { specs } = checked;
  await ctx.transaction(async (tx) => {
    await lockType(tx, id);
    await putSpecs(tx, id, specs);
  });
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, typeof value === 'boolean' ? value : specs[key]!]),
  );
}
