/** Which projects may use share types that aren't public. */
import type { Tx } from '#db/connection.ts';
import {
  addTypeProject,
  findShareType,
  listTypeProjects,
  lockShareType,
  removeTypeProject,
} from '#db/shareTypes.ts';
import { fault } from '#domain/faults.ts';
import type { Handlers } from './request.ts';

export const shareTypeAccess = {
  async listShareTypeAccess({ ctx, path }) {
    const type = await findShareType(ctx.db, path.id, null);
    if (!type) throw fault('shareTypeNotFound', { id: path.id });
    if (type.is_public) throw fault('typeHasNoAccessList', { what: 'Share type', id: path.id });
    return { share_type_access: await listTypeProjects(ctx.db, path.id) };
  },

  async addShareTypeAccess({ ctx, path, body }) {
    const project = readProject(body.project);
    await ctx.transaction(async (tx) => {
      await lockPrivate(tx, path.id);
      if (!(await addTypeProject(tx, path.id, project))) {
        throw fault('conflict', {
          reason: `Project ${project} has access to share type ${path.id} already.`,
        });
      }
    });
  },

  async removeShareTypeAccess({ ctx, path, body }) {
    const project = readProject(body.project);
    await ctx.transaction(async (tx) => {
      await lockPrivate(tx, path.id);
      if (!(await removeTypeProject(tx, path.id, project)))
        throw fault('typeAccessNotFound', { what: 'share type', id: path.id, project });
    });
  },
} satisfies Partial<Handlers>;

const PROJECT_ID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** The project that access is for. Throws 400 for what is no id of one. */
export function readProject(project: unknown): string {
  if (typeof project === 'string' && PROJECT_ID.test(project)) return project;
  throw fault('invalidBody', { where: 'project', reason: "must be a project's id, a UUID" });
}

/** Access is given to what isn't open to all anyway. */
async function lockPrivate(tx: Tx, id: string): Promise<void> {
  if (!(await lockShareType(tx, id))) throw fault('shareTypeNotFound', { id });
  const type = await findShareType(tx, id, null);
  if (type!.is_public)
    throw fault('conflict', { reason: `Share type ${id} is public: every project has access to it.` });
}
