/** Creating a share: everything is looked at first, then one transaction takes quota and writes rows and job. */
import { randomUUID } from 'node:crypto';
import { findAvailabilityZone } from '#db/availabilityZones.ts';
import type { Tx } from '#db/connection.ts';
import { useKey } from '#db/encryptionKeys.ts';
import { enqueue } from '#db/outbox.ts';
import { findQosTypeByNameOrId } from '#db/qosTypes.ts';
import { take, withQuota } from '#db/quotas.ts';
import type { ShareGroupRow } from '#db/shareGroups.ts';
import { findShare, insertShare, type ShareRow } from '#db/shares.ts';
import { findShareType, findShareTypeByNameOrId, type ShareTypeRow } from '#db/shareTypes.ts';
import { findSnapshot, type SnapshotRow } from '#db/snapshots.ts';
import { readBoolean } from '#domain/booleans.ts';
import { encryptionKeyRef } from '#domain/encryptionKeys.ts';
import { DEFAULT_QOS_TYPE } from '#domain/extraSpecs.ts';
import { fault } from '#domain/faults.ts';
import { readMetadata, refuseAdminOnly } from '#domain/metadata.ts';
import { mountPointName } from '#domain/mountPointNames.ts';
import type { QuotaResource } from '#domain/quotas.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { sizeProblem } from '#domain/shareTypeSpecs.ts';
import { capabilitiesOf } from '#domain/shareTypes.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import { holdGroup, refuseForeignType, shareGroupOf } from './shareCreateGroup.ts';
import { affinityOf, hintsOf } from './shareCreateHints.ts';
import { holdNetwork, shareNetworkOf } from './shareCreateNetwork.ts';

type Asked = Operations['createShare']['body'];

/** Where a share is made from: its snapshot, and the share of that. */
interface Source {
  snapshot: SnapshotRow;
  share: ShareRow;
}

/** A share to be made, checked through. */
interface Plan {
  size: number;
  protocol: string;
  name: string | null;
  description: string | null;
  isPublic: boolean;
  metadata: Record<string, string>;
  zone: { id: string; name: string } | null;
  shareNetworkId: string | null;
  type: ShareTypeRow | null;
  qosTypeId: string | null;
  mountPointName: string | null;
  encryptionKeyRef: string | null;
  source: Source | null;
  group: ShareGroupRow | null;
  hints: Record<string, string>;
}

export async function createShare(ctx: Ctx, asked: Asked): Promise<ShareRow> {
  const plan = await check(ctx, asked);
  const id = randomUUID();
  const instanceId = randomUUID();
  const { size, type, source } = plan;
  const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: type?.id ?? null };
  const capabilities = capabilitiesOf(type?.extra_specs ?? {});
  const counted = sharesQuota(size, capabilities.replication_type);
  const used = { owner, resources: Object.keys(counted) as QuotaResource[] };
  const write = async (tx: Tx) => {
    await holdNetwork(tx, plan.shareNetworkId);
    if (plan.group) await holdGroup(tx, plan.group.id);
    await take(tx, owner, { ...counted, per_share_gigabytes: size }, ctx.settings.quota);
    // A clone is made where its snapshot is, unless the scheduler may choose: its job then only hands it on.
    const host =
      source && !ctx.settings.use_scheduler_creating_share_from_snapshot ? source.snapshot.host : null;
    await insertShare(tx, {
      id,
      instanceId,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      size,
      name: plan.name,
      description: plan.description,
      protocol: plan.protocol,
      isPublic: plan.isPublic,
      snapshotId: source?.snapshot.id ?? null,
      shareTypeId: type?.id ?? null,
      availabilityZoneId: plan.zone?.id ?? null,
      shareNetworkId: plan.shareNetworkId,
      capabilities,
      qosTypeId: plan.qosTypeId,
      shareGroupId: plan.group?.id ?? null,
      mountPointName: plan.mountPointName,
      encryptionKeyRef: plan.encryptionKeyRef,
      metadata: plan.metadata,
      status: shareLife.create.via,
      host,
    });
    if (plan.encryptionKeyRef !== null)
      await useKey(tx, owner, instanceId, plan.encryptionKeyRef, ctx.settings.quota);
    await enqueue(tx, {
      queue: 'scheduler',
      kind: shareLife.create.kind,
      resource: id,
      payload: jobFor(ctx, {
        shareId: id,
        instanceId,
        zone: plan.zone?.name ?? null,
        hints: plan.hints,
        isAdmin: ctx.isAdmin,
      }),
    });
    return (await findShare(tx, id, { withPaths: ctx.allows('exportLocationsInShares') }))!;
  };
  return withQuota(ctx.db, write, used);
}

async function check(ctx: Ctx, asked: Asked): Promise<Plan> {
  const isPublic =
    asked.is_public === undefined || asked.is_public === null
      ? false
      : readBoolean(asked.is_public, 'is_public');
  if (isPublic && !ctx.can('share:create_public_share')) {
    throw fault('notAllowed', { reason: 'Creating public shares is not allowed: is_public must be false.' });
  }
  const metadata = readMetadata(asked.metadata);
  if (!ctx.can('share:update_admin_only_metadata'))
    refuseAdminOnly(Object.keys(metadata), ctx.settings.admin_only_metadata);

  const from = asked.snapshot_id ?? null;
  const source = from === null ? null : await sourceOf(ctx, String(from));
  const group =
    asked.share_group_id && ctx.allows('shareGroupsInShares')
      ? await shareGroupOf(ctx, String(asked.share_group_id), source?.snapshot ?? null)
      : null;
  const zoneName = asked.availability_zone ?? source?.share.availability_zone ?? group?.availability_zone;
  const zone = zoneName ? await zoneOf(ctx, String(zoneName)) : null;
  const size = sizeOf(asked.size, source);
  const type = await typeOf(ctx, asked, source);
  const protocol = protocolOf(ctx, asked.share_proto ?? undefined, source);
  checkType(type, size);
  if (group) refuseForeignType(group, type);
  const shareNetworkId = await shareNetworkOf(ctx, {
    asked: asked.share_network_id,
    type,
    zone: zone?.name ?? null,
    from: networkSource(source, group),
  });
  return {
    size,
    protocol,
    name: asked.name ?? asked.display_name ?? null,
    description: asked.description ?? asked.display_description ?? null,
    isPublic,
    metadata: { ...metadata, ...affinityOf(asked) },
    zone,
    shareNetworkId,
    type,
    qosTypeId: await qosTypeOf(ctx, type),
    mountPointName: mountPointName(type, ctx.projectId, asked.mount_point_name),
    encryptionKeyRef: encryptionKeyRef(type, asked.encryption_key_ref),
    source,
    group,
    hints: hintsOf(ctx, asked),
  };
}

/** What a share takes its network from, unless its owner says: what it is made from, or the group it joins. */
function networkSource(source: Source | null, group: ShareGroupRow | null) {
  if (source) {
    const { snapshot, share } = source;
    return { what: `the share of snapshot ${snapshot.id}`, shareNetworkId: share.share_network_id };
  }
  return group && { what: `share group ${group.id}`, shareNetworkId: group.share_network_id };
}

async function zoneOf(ctx: Ctx, nameOrId: string) {
  const zone = await findAvailabilityZone(ctx.db, nameOrId);
  if (!zone) throw fault('availabilityZoneNotFound', { name: nameOrId });
  return zone;
}

/** GiB asked for; a clone may leave it out, and is never smaller than its snapshot. */
function sizeOf(asked: unknown, source: Source | null): number {
  const size =
    asked === null || asked === undefined || (source && Number(asked) === 0)
      ? (source?.snapshot.size ?? 0)
      : Number(asked);
  if (!Number.isSafeInteger(size) || size <= 0 || size > 2 ** 31 - 1) {
    throw fault('invalidInput', {
      reason: `Share size ${JSON.stringify(asked ?? null)} must be a whole number of GiB greater than 0`,
    });
  }
  if (source && size < source.snapshot.size) {
    throw fault('invalidInput', {
      reason: `Share size ${size} must be at least the ${source.snapshot.size} GiB of snapshot ${source.snapshot.id}`,
    });
  }
  return size;
}

async function sourceOf(ctx: Ctx, snapshotId: string): Promise<Source> {
  const snapshot = await findSnapshot(ctx.db, snapshotId);
  if (!snapshot || !ctx.can('share_snapshot:get_snapshot', snapshot))
    throw fault('snapshotNotFound', { id: snapshotId });
  const share = await findShare(ctx.db, snapshot.share_id);
  if (!share) throw fault('snapshotNotFound', { id: snapshotId });
  if (snapshot.status !== 'available') {
    throw fault('invalidSnapshot', {
      reason: `snapshot ${snapshotId} is ${snapshot.status}; a share can be made from it when it is available`,
    });
  }
  if (!share.create_share_from_snapshot_support) {
    throw fault('invalidShare', {
      reason: `shares can't be created from snapshots of share ${share.id}: its type lacks create_share_from_snapshot_support`,
    });
  }
  return { snapshot, share };
}

async function typeOf(ctx: Ctx, asked: Asked, source: Source | null): Promise<ShareTypeRow | null> {
  if (asked.share_type && asked.volume_type)
    throw fault('invalidInput', { reason: 'share_type and volume_type are the same: give one' });
  const wanted = asked.share_type ?? asked.volume_type;
  const visible = ctx.isAdmin ? null : ctx.projectId;
  if (source) {
    const inherited =
      source.share.share_type === null
        ? null
        : ((await findShareType(ctx.db, source.share.share_type, null)) ?? null);
    if (!wanted) return inherited;
    const type = await findShareTypeByNameOrId(ctx.db, wanted, visible);
    if (!type) throw fault('shareTypeNotFound', { id: wanted });
    if (type.id !== inherited?.id) {
      throw fault('invalidInput', {
        reason: `a share from snapshot ${source.snapshot.id} has the type of its source, ${inherited?.name ?? 'none'}; not ${type.name}`,
      });
    }
    return type;
  }
  if (wanted) {
    const type = await findShareTypeByNameOrId(ctx.db, wanted, visible);
    if (!type) throw fault('shareTypeNotFound', { id: wanted });
    return type;
  }
  const byDefault = ctx.settings.default_share_type;
  return byDefault === null ? null : ((await findShareTypeByNameOrId(ctx.db, byDefault, null)) ?? null);
}

/** The id of the QoS type that shares of the type get; null when it names none. */
async function qosTypeOf(ctx: Ctx, type: ShareTypeRow | null): Promise<string | null> {
  const named = type?.extra_specs[DEFAULT_QOS_TYPE];
  if (!named) return null;
  const qosType = await findQosTypeByNameOrId(ctx.db, named);
  if (qosType) return qosType.id;
  throw fault('invalidInput', {
    reason: `share type ${type!.name} names a ${DEFAULT_QOS_TYPE} that isn't there: ${named}`,
  });
}

function protocolOf(ctx: Ctx, asked: string | undefined, source: Source | null): string {
  const protocol = (asked ?? source?.share.share_proto ?? '').toUpperCase();
  const enabled = ctx.settings.enabled_share_protocols.map((name) => name.toUpperCase());
  if (!enabled.includes(protocol)) {
    throw fault('invalidInput', {
      reason: `share_proto ${JSON.stringify(asked ?? null)} is not among the enabled protocols: ${enabled.join(', ')}`,
    });
  }
  return protocol;
}

function checkType(type: ShareTypeRow | null, size: number): void {
  const specs = type?.extra_specs ?? {};
  const problem = sizeProblem(specs, size, 'create');
  if (problem) throw fault('invalidInput', { reason: `share type ${type!.name}: ${problem}` });
}
