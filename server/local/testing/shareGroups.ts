/** Share groups for tests: types of shares and of groups, and what a project does with groups of these. */
import { randomUUID } from 'node:crypto';
import type { Ctx } from '#handlers/context.ts';
import { shareGroupSnapshots } from '#handlers/shareGroupSnapshots.ts';
import { shareGroups } from '#handlers/shareGroups.ts';
import { shareGroupTypes } from '#handlers/shareGroupTypes.ts';
import { shares } from '#handlers/shares.ts';
import { shareTypes } from '#handlers/shareTypes.ts';
import { startWorld } from './world.ts';

export const none = { path: {}, query: {}, body: undefined } as never as {
  path: never;
  query: never;
  body: never;
};

/** A world with types; the group type takes all three share types. */
export async function startGroups() {
  const world = await startWorld();
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const shareType = await makeShareType({
    snapshot_support: 'True',
    create_share_from_snapshot_support: 'True',
  });
  const otherType = await makeShareType({});
  const serverType = await makeShareType({ driver_handles_share_servers: 'True' });
  const groupType = await makeGroupType({});

  async function makeShareType(specs: Record<string, string>): Promise<string> {
    const extra_specs = { driver_handles_share_servers: 'False', ...specs };
    const made = await shareTypes.createShareType({
      ...none,
      ctx: admin,
      body: { name: randomUUID(), extra_specs },
    });
    return made.share_type.id;
  }

  async function makeGroupType(
    group_specs: Record<string, string>,
    types = [shareType, otherType, serverType],
  ): Promise<string> {
    const body = { name: randomUUID(), share_types: types, group_specs };
    return (await shareGroupTypes.createShareGroupType({ ...none, ctx: admin, body })).share_group_type.id;
  }

  const createGroup = async (ctx: Ctx, body: Record<string, unknown> = {}) =>
    (
      await shareGroups.createShareGroup({
        ...none,
        ctx,
        body: {
          share_group_type_id: groupType,
          ...(body.source_share_group_snapshot_id ? {} : { share_types: [shareType] }),
          ...body,
        },
      })
    ).share_group;
  const showGroup = async (ctx: Ctx, id: string) =>
    (await shareGroups.getShareGroup({ ...none, ctx, path: { id } })).share_group;
  const deleteGroup = (ctx: Ctx, id: string) => shareGroups.deleteShareGroup({ ...none, ctx, path: { id } });
  const showShare = async (ctx: Ctx, id: string) =>
    (await shares.getShare({ ...none, ctx, path: { id } })).share;
  const showSnapshot = async (ctx: Ctx, id: string) =>
    (await shareGroupSnapshots.getShareGroupSnapshot({ ...none, ctx, path: { id } })).share_group_snapshot;
  const deleteSnapshot = (ctx: Ctx, id: string) =>
    shareGroupSnapshots.deleteShareGroupSnapshot({ ...none, ctx, path: { id } });
  const adminOf = (ctx: Ctx) =>
    world.caller({ projectId: ctx.projectId, roles: ['admin', 'member', 'reader'] });

  /** An available group of a new project, and what its owner does with it. */
  async function given(members = 0) {
    const owner = world.caller();
    const group = await createGroup(owner, { name: 'g' });
    await world.work(group.id);
    const add = async (body: Record<string, unknown> = {}) =>
      (
        await shares.createShare({
          ...none,
          ctx: owner,
          body: { share_proto: 'NFS', size: 2, share_type: shareType, share_group_id: group.id, ...body },
        })
      ).share;
    const member = async () => {
      const { id } = await add();
      await world.work(id);
      return id;
    };
    const memberIds: string[] = [];
    for (let i = 0; i < members; i++) memberIds.push(await member());
    const take = async (body: Record<string, unknown> = {}, ctx = owner) =>
      (
        await shareGroupSnapshots.createShareGroupSnapshot({
          ...none,
          ctx,
          body: { share_group_id: group.id, ...body },
        })
      ).share_group_snapshot;
    return {
      owner,
      id: group.id,
      add,
      member,
      memberIds,
      take,
      work: () => world.work(group.id),
      usage: () => world.usage(owner.projectId),
    };
  }

  return {
    world,
    admin,
    shareType,
    otherType,
    serverType,
    makeShareType,
    makeGroupType,
    createGroup,
    showGroup,
    deleteGroup,
    showShare,
    showSnapshot,
    deleteSnapshot,
    adminOf,
    given,
  };
}

export type GroupWorld = Awaited<ReturnType<typeof startGroups>>;
