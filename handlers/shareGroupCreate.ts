/** Creating a share group, empty or from a snapshot of another: all is looked at first, then written at once. */
import { randomUUID } from 'node:crypto';
import { findAvailabilityZone } from '#db/availabilityZones.ts';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { take, withQuota } from '#db/quotas.ts';
import { findDrivenMember, type ShareGroupSnapshotRow } from '#db/shareGroupSnapshots.ts';
import { findShareGroup, insertShareGroup, type ShareGroupRow } from '#db/shareGroups.ts';
import { findShareGroupType, type ShareGroupTypeRow } from '#db/shareGroupTypes.ts';
import { findShareNetwork } from '#db/shareNetworks.ts';
import { insertShare } from '#db/shares.ts';
import { findShareType, findShareTypeByNameOrId, type ShareTypeRow } from '#db/shareTypes.ts';
import type { DrivenSnapshot } from '#db/snapshots.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { shareGroupJobs, shareGroupLife } from '#domain/shareGroups.ts';
import { refuseInactive } from '#domain/shareNetworks.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { capabilitiesOf, handlesShareServers } from '#domain/shareTypes.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import { holdNetwork } from './shareCreateNetwork.ts';
import { defaultShareGroupType } from './shareGroupTypes.ts';
import { visibleShareGroup, visibleShareGroupSnapshot } from './visibleShareGroup.ts';

type Asked = Operations['createShareGroup']['body'];

/** What a group is made from: a snapshot, its members, and the group that it was taken of. */
interface Source {
  snapshot: ShareGroupSnapshotRow;
  group: ShareGroupRow & { host: string };
  members: DrivenSnapshot[];
}

/** A group to be made, checked through. */
interface Plan {
  type: ShareGroupTypeRow;
  shareTypes: ShareTypeRow[];
  networkId: string | null;
  zone: { id: string; name: string } | null;
  source: Source | null;
}

export async function createShareGroup(ctx: Ctx, asked: Asked): Promise<ShareGroupRow> {
  const plan = await check(ctx, asked);
  const id = randomUUID();
  return withQuota(ctx.db, async (tx) => {
    const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: null };
    await holdNetwork(tx, plan.networkId);
    await take(tx, owner, { share_groups: 1 }, ctx.settings.quota);
    await insertShareGroup(tx, {
      id,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      name: asked.name ?? null,
      description: asked.description ?? null,
      status: shareGroupLife.create.via,
      host: plan.source?.group.host ?? null,
      shareGroupTypeId: plan.type.id,
      sourceSnapshotId: plan.source?.snapshot.id ?? null,
      shareNetworkId: plan.networkId,
      shareServerId: plan.source?.group.share_server_id ?? null,
      availabilityZoneId: plan.zone?.id ?? null,
      shareTypes: plan.shareTypes.map((type) => type.id),
    });
    for (const member of plan.source?.members ?? []) await writeShare(tx, ctx, id, plan, member);
    await enqueue(tx, {
      ...(plan.source
        ? { kind: shareGroupJobs.provision, queue: shareQueue(plan.source.group.host) }
        : { kind: shareGroupLife.create.kind, queue: 'scheduler' }),
      resource: id,
      payload: jobFor(ctx, { groupId: id }),
    });
    return (await findShareGroup(tx, id))!;
  });
}

/** A share of a group from a snapshot: it is as large as the member, and where that is. Its job follows the group's. */
async function writeShare(
  tx: Tx,
  ctx: Ctx,
  shareGroupId: string,
  { shareTypes, zone, networkId }: Plan,
  member: DrivenSnapshot,
): Promise<void> {
  const { size, share } = member;
  const type = shareTypes.find(({ id }) => id === share.shareTypeId);
  const capabilities = capabilitiesOf(type?.extra_specs ?? {});
  const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: share.shareTypeId };
  const counted = { ...sharesQuota(size, capabilities.replication_type), per_share_gigabytes: size };
  await take(tx, owner, counted, ctx.settings.quota);
  await insertShare(tx, {
    id: randomUUID(),
    instanceId: randomUUID(),
    createdAt: now(),
    userId: ctx.userId,
    projectId: ctx.projectId,
    size,
    name: null,
    description: null,
    protocol: share.protocol,
    isPublic: false,
    snapshotId: null,
    shareTypeId: share.shareTypeId,
    availabilityZoneId: zone?.id ?? null,
    capabilities,
    metadata: {},
    status: shareLife.create.via,
    host: share.host,
    shareNetworkId: networkId,
    shareGroupId,
    sourceMemberId: member.id,
  });
}

async function check(ctx: Ctx, asked: Asked): Promise<Plan> {
  refuseWithSource(asked);
  const zone = asked.availability_zone == null ? null : await zoneOf(ctx, asked.availability_zone);
  const type = await groupTypeOf(ctx, asked);
  if (asked.source_share_group_snapshot_id) {
    const source = await sourceOf(ctx, asked.source_share_group_snapshot_id);
    const { availability_zone, share_network_id, share_types } = source.group;
    return {
      type,
      source,
      shareTypes: await shareTypesOf(ctx, type, share_types, true),
      networkId: share_network_id,
      zone: availability_zone === null ? null : await zoneOf(ctx, availability_zone),
    };
  }
  const shareTypes = await shareTypesOf(ctx, type, asked.share_types ?? []);
  const networkId = asked.share_network_id ?? null;
  await checkNetwork(ctx, shareTypes, networkId);
  return { type, source: null, shareTypes, networkId, zone };
}

/** A group from a snapshot takes these from the group that the snapshot is of. */
function refuseWithSource(asked: Asked): void {
  if (!asked.source_share_group_snapshot_id) return;
  for (const key of ['share_types', 'share_network_id', 'availability_zone'] as const) {
    if (!asked[key] || (Array.isArray(asked[key]) && asked[key].length === 0)) continue;
    throw fault('invalidInput', {
      reason: `${key} and source_share_group_snapshot_id can't both be given: the group takes it from its source`,
    });
  }
}

async function zoneOf(ctx: Ctx, nameOrId: string) {
  const zone = await findAvailabilityZone(ctx.db, nameOrId);
  if (!zone) throw fault('availabilityZoneNotFound', { name: nameOrId });
  return zone;
}

async function groupTypeOf(ctx: Ctx, asked: Asked): Promise<ShareGroupTypeRow> {
  const id = asked.share_group_type_id;
  const type =
    id === undefined
      ? await defaultShareGroupType(ctx)
      : await findShareGroupType(ctx.db, id, ctx.isAdmin ? null : ctx.projectId);
  if (type) return type;
  throw fault('invalidInput', {
    reason:
      id === undefined
        ? 'share_group_type_id must be given: there is no default share group type'
        : `share group type ${id} could not be found`,
  });
}

async function sourceOf(ctx: Ctx, id: string): Promise<Source> {
  const snapshot = await visibleShareGroupSnapshot(ctx, id, { status: 400 });
  if (snapshot.status !== 'available') {
    throw fault('conflict', {
      reason: `Share group snapshot ${id} is ${snapshot.status}; a group can be made from it when it is available.`,
    });
  }
  const group = await visibleShareGroup(ctx, snapshot.share_group_id, { status: 400 });
  const { host } = group;
  if (host === null) throw fault('conflict', { reason: `Share group ${group.id} was never placed.` });
  const members = await Promise.all(snapshot.members.map((member) => findDrivenMember(ctx.db, member.id)));
  return { snapshot, group: { ...group, host }, members: members.filter((member) => member !== undefined) };
}

/** The share types, each among those of the group's type; the default one when none is named. */
async function shareTypesOf(
  ctx: Ctx,
  groupType: ShareGroupTypeRow,
  ids: readonly string[],
  known = false,
): Promise<ShareTypeRow[]> {
  const types: ShareTypeRow[] = [];
  for (const id of new Set(ids)) {
    const type = await findShareType(ctx.db, id, known || ctx.isAdmin ? null : ctx.projectId);
    if (!type) throw fault('shareTypeNotFound', { id }, 400);
    types.push(type);
  }
  if (types.length === 0) {
    const byDefault = ctx.settings.default_share_type;
    const type = byDefault && (await findShareTypeByNameOrId(ctx.db, byDefault, null));
    if (!type)
      throw fault('invalidInput', { reason: 'share_types must be given: there is no default share type' });
    types.push(type);
  }
  const other = types.find(({ id }) => !groupType.share_types.includes(id));
  if (!other) return types;
  throw fault('invalidInput', {
    reason: `share type ${other.name} is none of those of share group type ${groupType.name}`,
  });
}

/** All share types of a group go with share servers, and then with a share network, or all without. */
async function checkNetwork(
  ctx: Ctx,
  types: readonly ShareTypeRow[],
  networkId: string | null,
): Promise<void> {
  const modes = new Set(types.map((type) => handlesShareServers(type.extra_specs) === true));
  if (modes.size > 1) {
    throw fault('invalidInput', { reason: 'share_types differ in driver_handles_share_servers' });
  }
  if (modes.has(false)) {
    if (networkId === null) return;
    throw fault('invalidInput', {
      reason: 'share_network_id must not be given: the share types have not driver_handles_share_servers',
    });
  }
  if (networkId === null) {
    throw fault('invalidInput', {
      reason: 'share_network_id must be given: the share types have driver_handles_share_servers',
    });
  }
  const network = await findShareNetwork(ctx.db, networkId);
  if (!network || !ctx.can('share_network:show', { project_id: network.project_id }))
    throw fault('shareNetworkNotFound', { id: networkId }, 400);
  refuseInactive(network);
}
