/** Taking under management what a back end has already, and letting it go; its data isn't touched either way. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import {
  type BackendService,
  findBackendService,
  findManagingServer,
  isExported,
  lockService,
  type ManagingServer,
  setProviderLocation,
  setServer,
  snapshotAt,
} from '#db/managing.ts';
import { enqueue } from '#db/outbox.ts';
import { count, withQuota } from '#db/quotas.ts';
import { hasLocks, holdersOf } from '#db/shareHolds.ts';
import { replaceExportLocations } from '#db/shareInstances.ts';
import { findShare, insertShare, lockShare, type ShareRow } from '#db/shares.ts';
import { findShareTypeByNameOrId, type ShareTypeRow } from '#db/shareTypes.ts';
import { instancesOfSnapshot } from '#db/snapshotInstances.ts';
import { findSnapshot, insertSnapshot, lockSnapshot, type SnapshotRow } from '#db/snapshots.ts';
import { shareSubject, snapshotSubject } from '#db/subjects.ts';
import { change, transition } from '#db/transition.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { readDriverOptions, requireText } from '#domain/managing.ts';
import { readMetadata } from '#domain/metadata.ts';
import { mountPointName as mountPointNameOf } from '#domain/mountPointNames.ts';
import type { QuotaResource } from '#domain/quotas.ts';
import { backendOf, isUp, shareQueue, splitHost } from '#domain/services.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { capabilitiesOf, handlesShareServers } from '#domain/shareTypes.ts';
import { snapshotLife, snapshotsQuota } from '#domain/snapshots.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { shown } from './shares.ts';
import { shown as shownSnapshot } from './snapshots.ts';
import { hostOf, ownShare, refuseBusy, refuseSoftDeleted, visibleShare } from './visible.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const managing = {
  async manageShare({ ctx, body }) {
    return { share: shown(await manageShare(ctx, body)) };
  },

  async unmanageShare({ ctx, path }) {
    await unmanageShare(ctx, path.id);
  },

  async unmanageShareByPath({ ctx, path }) {
    await unmanageShare(ctx, path.id);
  },

  async manageSnapshot({ ctx, body }) {
    return { snapshot: shownSnapshot(await manageSnapshot(ctx, body)) };
  },

  async unmanageSnapshot({ ctx, path }) {
    const snapshot = await visibleSnapshot(ctx, path.id, 'share_snapshot:unmanage_snapshot');
    const share = await findShare(ctx.db, snapshot.share_id);
    if (share) refuseOnServer(ctx, share);
    await ctx.transaction((tx) => beginLettingGo(tx, ctx, snapshot));
  },
} satisfies Partial<Handlers>;

type AskedShare = Operations['manageShare']['body'];

interface Place {
  service: BackendService;
  /** host@backend#pool */
  host: string;
  path: string;
  server: ManagingServer | null;
}

/** Writes the share with what the request says of it; its back end is asked for the rest by the job. */
async function manageShare(ctx: Ctx, asked: AskedShare): Promise<ShareRow> {
  const path = requireText(asked, 'export_path');
  const protocol = requireText(asked, 'protocol').toUpperCase();
  const host = requireText(asked, 'service_host');
  const driverOptions = readDriverOptions(asked.driver_options);
  const isPublic = asked.is_public == null ? false : readBoolean(asked.is_public, 'is_public');
  if (isPublic) ctx.authorize('share:create_public_share');
  const service = await serviceOf(ctx, host);
  const type = await typeOf(ctx, asked.share_type);
  const mountPointName = mountPointNameOf(type, ctx.projectId, asked.mount_point_name);
  const server = await serverOf(ctx, asked.share_server_id ?? null, type, host);
  const id = randomUUID();
  const instanceId = randomUUID();
  const capabilities = capabilitiesOf(type.extra_specs);
  const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: type.id };
  // Its size isn't known yet: the job counts that, and finds out whether all fits.
  const counted = sharesQuota(0, capabilities.replication_type);
  const write = async (tx: Tx) => {
    await refuseKnown(tx, { service, host, path, server });
    await insertShare(tx, {
      id,
      instanceId,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      size: 0,
      name: asked.name ?? asked.display_name ?? null,
      description: asked.description ?? asked.display_description ?? null,
      protocol,
      isPublic,
      snapshotId: null,
      shareTypeId: type.id,
      availabilityZoneId: null,
      capabilities,
      metadata: {},
      status: shareLife.manage.via,
      host,
      mountPointName,
    });
    await replaceExportLocations(tx, instanceId, [{ path, isAdminOnly: false }]);
    if (server) await setServer(tx, instanceId, server);
    await count(tx, owner, counted);
    await enqueue(tx, {
      queue: shareQueue(host),
      kind: shareLife.manage.kind,
      resource: id,
      payload: jobFor(ctx, { shareId: id, instanceId, driverOptions }),
    });
    return (await findShare(tx, id, { withPaths: ctx.allows('exportLocationsInShares') }))!;
  };
  return withQuota(ctx.db, write, { owner, resources: Object.keys(counted) as QuotaResource[] });
}

/** The back end's service, which must be heard of: it is the one that knows the share. */
async function serviceOf(ctx: Ctx, host: string): Promise<BackendService> {
  const { backend, pool } = splitHost(host);
  if (!backend || !pool) {
    throw fault('invalidInput', {
      reason: `service_host must name a pool, as host@backend#pool; not ${JSON.stringify(host)}`,
    });
  }
  const service = await findBackendService(ctx.db, backendOf(host));
  if (!service) throw fault('serviceNotFound', { binary: 'manila-share', host: backendOf(host) });
  if (!isUp(service, ctx.settings.service_down_time)) {
    throw fault('invalidInput', { reason: `service_host: the service of ${backendOf(host)} is down` });
  }
  return service;
}

async function typeOf(ctx: Ctx, asked: string | null | undefined): Promise<ShareTypeRow> {
  const wanted = asked || ctx.settings.default_share_type;
  const type = wanted ? await findShareTypeByNameOrId(ctx.db, wanted, null) : undefined;
  if (type) return type;
  throw asked ? fault('shareTypeNotFound', { id: asked }) : fault('noDefaultShareType');
}

/** A share on a share server must say which; any other must not. */
async function serverOf(
  ctx: Ctx,
  id: string | null,
  type: ShareTypeRow,
  host: string,
): Promise<ManagingServer | null> {
  const needed = handlesShareServers(type.extra_specs) === true;
  if (needed !== (id !== null)) {
    throw fault('invalidInput', {
      reason: `share_server_id must ${needed ? '' : 'not '}be given: share type ${type.name} has driver_handles_share_servers ${needed ? 'True' : 'False'}`,
    });
  }
  if (id === null) return null;
  const server = await findManagingServer(ctx.db, id);
  if (!server) throw fault('invalidInput', { reason: `share_server_id: there is no share server ${id}` });
  if (server.status !== 'active' || server.host === null || backendOf(server.host) !== backendOf(host)) {
    throw fault('invalidInput', {
      reason: `share server ${id} is ${server.status} on ${server.host ?? 'no host'}; it must be active on ${backendOf(host)}`,
    });
  }
  return server;
}

/** One that is managed already is refused; no other can come in between until the transaction ends. */
async function refuseKnown(tx: Tx, { service, host, path }: Place): Promise<void> {
  await lockService(tx, service);
  if (!(await isExported(tx, host, path))) return;
  throw fault('conflict', { reason: `There is a share on ${host} that is exported as ${path} already.` });
}

/** Before shares on share servers could be managed, there was no letting them go either. */
function refuseOnServer(ctx: Ctx, share: ShareRow): void {
  if (share.share_server_id === null || ctx.allows('managingOnShareServers')) return;
  throw fault('notAllowed', {
    reason: `Share ${share.id} is on a share server: at this version it can't be managed or unmanaged.`,
  });
}

async function unmanageShare(ctx: Ctx, id: string): Promise<void> {
  const share = await ownShare(ctx, id);
  ctx.authorize('share:unmanage', share);
  refuseSoftDeleted(share, 'unmanaged');
  refuseOnServer(ctx, share);
  refuseBusy(share, 400);
  const queue = shareQueue(hostOf(share));
  await ctx.transaction(async (tx) => {
    await lockShare(tx, share.id);
    await refuseHeld(tx, share);
    await transition(tx, shareLife.unmanage, shareSubject(share.id), {
      queue,
      resource: share.id,
      payload: jobFor(ctx, { shareId: share.id, instanceId: share.instance_id }),
    });
  });
}

/** What must go before a share can be let go: what is kept of it here would hang in the air. */
async function refuseHeld(tx: Tx, share: ShareRow): Promise<void> {
  const held = await holdersOf(tx, share.id);
  if (held.replicas > 0 || held.backups > 0 || share.share_group_id !== null) {
    const what = held.replicas > 0 ? 'replicas' : held.backups > 0 ? 'backups' : 'a share group';
    throw fault('conflict', { reason: `Share ${share.id} has ${what} and so can't be unmanaged.` });
  }
  if (held.snapshots > 0) {
    throw fault('notAllowed', {
      reason: `Share ${share.id} has ${held.snapshots} snapshot(s); unmanage or delete them first.`,
    });
  }
  if (await hasLocks(tx, share.id)) {
    throw fault('notAllowed', {
      reason: `Share ${share.id} is locked against deletion; remove its resource locks first.`,
    });
  }
}

type AskedSnapshot = Operations['manageSnapshot']['body'];

async function manageSnapshot(ctx: Ctx, asked: AskedSnapshot): Promise<SnapshotRow> {
  const shareId = requireText(asked, 'share_id');
  const location = requireText(asked, 'provider_location');
  const driverOptions = readDriverOptions(asked.driver_options);
  const metadata = ctx.allows('snapshotMetadata') ? readMetadata(asked.metadata) : {};
  const share = await visibleShare(ctx, shareId, { refusal: 'shareNotFound' });
  ctx.authorize('share_snapshot:manage_snapshot', share);
  refuseSoftDeleted(share, 'given a snapshot');
  refuseOnServer(ctx, share);
  if (share.has_replicas)
    throw fault('conflict', { reason: `Share ${share.id} has replicas: its snapshots can't be managed.` });
  const queue = shareQueue(hostOf(share));
  const id = randomUUID();
  const instanceId = randomUUID();
  const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: share.share_type };
  // Counted as large as its share, until the job knows better.
  const counted = snapshotsQuota(share.size);
  const write = async (tx: Tx) => {
    await lockShare(tx, share.id);
    const known = await snapshotAt(tx, share.id, location);
    if (known) {
      throw fault('conflict', { reason: `${location} of share ${share.id} is snapshot ${known} already.` });
    }
    await insertSnapshot(tx, {
      id,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      share,
      name: asked.name ?? asked.display_name ?? null,
      description: asked.description ?? asked.display_description ?? null,
      metadata,
      status: snapshotLife.manage.via,
      instances: [{ id: instanceId, shareInstanceId: share.instance_id }],
    });
    await setProviderLocation(tx, instanceId, location);
    await count(tx, owner, counted);
    await enqueue(tx, {
      queue,
      kind: snapshotLife.manage.kind,
      resource: share.id,
      payload: jobFor(ctx, { snapshotId: id, instanceId, driverOptions }),
    });
    return (await findSnapshot(tx, id))!;
  };
  return withQuota(ctx.db, write, { owner, resources: Object.keys(counted) as QuotaResource[] });
}

/** Every instance is let go by its own back end. */
async function beginLettingGo(tx: Tx, ctx: Ctx, snapshot: SnapshotRow): Promise<void> {
  await lockSnapshot(tx, snapshot.id);
  await change(tx, snapshotLife.unmanage, snapshotSubject(snapshot.id));
  for (const instance of await instancesOfSnapshot(tx, snapshot.id)) {
    await enqueue(tx, {
      kind: snapshotLife.unmanage.kind,
      queue: shareQueue(instance.host),
      resource: snapshot.share_id,
      payload: jobFor(ctx, { snapshotId: snapshot.id, instanceId: instance.id }),
    });
  }
}
