/** Which projects may use share group types that aren't public. */
import type { Tx } from '#db/connection.ts';
import {
  addGroupTypeProject,
  findShareGroupType,
  listGroupTypeProjects,
  lockShareGroupType,
  removeGroupTypeProject,
} from '#db/shareGroupTypes.ts';
import { fault } from '#domain/faults.ts';
import type { Handlers } from './request.ts';
import { readProject } from './shareTypeAccess.ts';

export const shareGroupTypeAccess = {
  async listShareGroupTypeAccess({ ctx, path }) {
    const type = await findShareGroupType(ctx.db, path.id, null);
    if (!type) throw fault('shareGroupTypeNotFound', { id: path.id });
    if (type.is_public) throw fault('typeHasNoAccessList', { what: 'Share group type', id: path.id });
    return { share_group_type_access: await listGroupTypeProjects(ctx.db, path.id) };
  },

  async addShareGroupTypeAccess({ ctx, path, body }) {
    const project = readProject(body.project);
    await ctx.transaction(async (tx) => {
      await lockPrivate(tx, path.id);
      if (!(await addGroupTypeProject(tx, path.id, project))) {
        throw fault('conflict', {
          reason: `Project ${project} has access to share group type ${path.id} already.`,
        });
      }
    });
  },

  async removeShareGroupTypeAccess({ ctx, path, body }) {
    const project = readProject(body.project);
    await ctx.transaction(async (tx) => {
      await lockPrivate(tx, path.id);
      if (!(await removeGroupTypeProject(tx, path.id, project)))
        throw fault('typeAccessNotFound', { what: 'share group type', id: path.id, project });
    });
  },
} satisfies Partial<Handlers>;

/** Access is given to what isn't open to all anyway. */
async function lockPrivate(tx: Tx, id: string): Promise<void> {
  if (!(await lockShareGroupType(tx, id))) throw fault('shareGroupTypeNotFound', { id });
  const type = await findShareGroupType(tx, id, null);
  if (type!.is_public)
    throw fault('conflict', {
      reason: `Share group type ${id} is public: every project has access to it.`,
    });
}
