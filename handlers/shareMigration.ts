/** Moving a share to another pool: begun, switched over, given up, and how far it is. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { findBackendService } from '#db/managing.ts';
import { enqueue } from '#db/outbox.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { destinationOf, isBeingCancelled } from '#db/shareMigration.ts';
import { findShareNetwork } from '#db/shareNetworks.ts';
import { findShare, lockShare, type ShareRow, setTaskState } from '#db/shares.ts';
import { findShareType, type ShareTypeRow } from '#db/shareTypes.ts';
import { standingSubject } from '#db/subjects.ts';
import { transition } from '#db/transition.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { backendOf, isUp, shareQueue } from '#domain/services.ts';
import {
  assertCopyable,
  assertPhase,
  isByDriver,
  type MigrationWishes,
  migrationJobs,
  progressIn,
} from '#domain/shareMigration.ts';
import { shareLife } from '#domain/shares.ts';
import { handlesShareServers } from '#domain/shareTypes.ts';
import type { Operations } from '#generated/handlers.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { hostOf, ownShare, refuseBusy, refuseSoftDeleted } from './visible.ts';

export const shareMigration = {
  async startShareMigration({ ctx, path, body }) {
    const share = await migratedShare(ctx, path.id, 'share:migration_start');
    const to = await destinationFor(ctx, share, body);
    const wishes = readWishes(body);
    if (to.isHere) {
      ctx.answerWith(200); // it is there: done already
      return;
    }
    await refuseUnfit(ctx, share, wishes);
    await ctx.transaction((tx) => begin(tx, ctx, share, { ...to, wishes }));
  },

  async completeShareMigration({ ctx, path }) {
    const { id } = await migratedShare(ctx, path.id, 'share:migration_complete');
    await ctx.transaction(async (tx) => {
      const share = await lockedPhase(tx, id, 'complete');
      const destination = await destinationOf(tx, id);
      if (!destination) throw fault('invalidShare', { reason: `share ${id} has nowhere to be switched to` });
      const driven = isByDriver(share.task_state);
      await setTaskState(tx, id, 'migration_completing');
      await enqueue(tx, {
        kind: driven ? migrationJobs.switch : migrationJobs.handOver,
        queue: shareQueue(driven ? hostOf(share) : destination.host),
        resource: id,
        payload: jobFor(ctx, { shareId: id, instanceId: share.instance_id, destinationId: destination.id }),
      });
    });
  },

  async cancelShareMigration({ ctx, path }) {
    const { id } = await migratedShare(ctx, path.id, 'share:migration_cancel');
    await ctx.transaction(async (tx) => {
      const share = await lockedPhase(tx, id, 'cancel');
      const destination = await destinationOf(tx, id);
      await enqueue(tx, {
        kind: migrationJobs.cancel,
        queue: shareQueue(hostOf(share)),
        resource: id,
        payload: jobFor(ctx, {
          shareId: id,
          instanceId: share.instance_id,
          destinationId: destination?.id ?? null,
        }),
      });
    });
  },

  getShareMigrationProgressByAction: ({ ctx, path }) => progressOf(ctx, path.id),
  getShareMigrationProgress: ({ ctx, path }) => progressOf(ctx, path.id),
} satisfies Partial<Handlers>;

async function migratedShare(ctx: Ctx, id: string, policy: PolicyName): Promise<ShareRow> {
  const share = await ownShare(ctx, id, { refusal: 'shareNotFound' });
  ctx.authorize(policy, share);
  return share;
}

type Asked = Operations['startShareMigration']['body'];

interface Destination {
  host: string;
  newTypeId: string | null;
  newNetworkId: string | null;
  /** nothing is asked that isn't so */
  isHere: boolean;
}

async function destinationFor(ctx: Ctx, share: ShareRow, asked: Asked): Promise<Destination> {
  const service = await findBackendService(ctx.db, backendOf(asked.host));
  if (!service) throw fault('serviceNotFound', { binary: 'manila-share', host: backendOf(asked.host) });
  if (!isUp(service, ctx.settings.service_down_time)) {
    throw fault('invalidInput', { reason: `host: the service of ${backendOf(asked.host)} is down` });
  }
  const newTypeId = asked.new_share_type_id ?? null;
  const type = newTypeId === null ? null : await newType(ctx, newTypeId);
  const newNetworkId = await networkFor(ctx, share, type, asked.new_share_network_id ?? null);
  const isHere =
    asked.host === share.host &&
    (type === null || type.id === share.share_type) &&
    newNetworkId === share.share_network_id;
  return { host: asked.host, newTypeId: type?.id ?? share.share_type, newNetworkId, isHere };
}

async function newType(ctx: Ctx, id: string): Promise<ShareTypeRow> {
  const type = await findShareType(ctx.db, id, null);
  if (!type) throw fault('shareTypeNotFound', { id }, 400);
  return type;
}

/** A type with share servers needs a network, the share's own unless another is named; any other takes none. */
async function networkFor(
  ctx: Ctx,
  share: ShareRow,
  newType: ShareTypeRow | null,
  asked: string | null,
): Promise<string | null> {
  const type =
    newType ?? (share.share_type === null ? undefined : await findShareType(ctx.db, share.share_type, null));
  const needed = handlesShareServers(type?.extra_specs ?? {}) === true;
  if (asked !== null && !(await findShareNetwork(ctx.db, asked)))
    throw fault('shareNetworkNotFound', { id: asked }, 400);
  const network = asked ?? share.share_network_id;
  if (needed && network === null) {
    throw fault('invalidInput', {
      reason: `new_share_network_id must be given: share type ${type!.name} has driver_handles_share_servers`,
    });
  }
  if (!needed && asked !== null) {
    throw fault('invalidInput', {
      reason: `new_share_network_id can't be given: share type ${type?.name ?? '(none)'} has no share servers`,
    });
  }
  return needed ? network : null;
}

function readWishes(asked: Asked): MigrationWishes {
  return {
    forceHostAssisted: readBoolean(
      asked.force_host_assisted_migration ?? false,
      'force_host_assisted_migration',
    ),
    preserveMetadata: readBoolean(asked.preserve_metadata, 'preserve_metadata'),
    preserveSnapshots: readBoolean(asked.preserve_snapshots, 'preserve_snapshots'),
    nondisruptive: readBoolean(asked.nondisruptive, 'nondisruptive'),
    writable: readBoolean(asked.writable, 'writable'),
  };
}

async function refuseUnfit(ctx: Ctx, share: ShareRow, wishes: MigrationWishes): Promise<void> {
  refuseSoftDeleted(share, 'migrated');
  refuseBusy(share, 400);
  hostOf(share);
  const held = await holdersOf(ctx.db, share.id);
  if (wishes.forceHostAssisted) assertCopyable(wishes, held.snapshots);
  if (held.replicas > 0)
    throw fault('conflict', { reason: `Share ${share.id} has replicas; delete them first.` });
  if (share.share_group_id !== null)
    throw fault('invalidShare', { reason: `share ${share.id} is in share group ${share.share_group_id}` });
  if (share.access_rules_status !== 'active') {
    throw fault('invalidShare', {
      reason: `the access rules of share ${share.id} are ${share.access_rules_status}; they must be active`,
    });
  }
}

interface Begun extends Destination {
  wishes: MigrationWishes;
}

async function begin(tx: Tx, ctx: Ctx, share: ShareRow, to: Begun): Promise<void> {
  await lockShare(tx, share.id);
  await transition(tx, shareLife.migrate, standingSubject(share), {
    queue: 'scheduler',
    resource: share.id,
    payload: jobFor(ctx, {
      shareId: share.id,
      instanceId: share.instance_id,
      // Made here, so that a job that runs twice makes one.
      destinationId: randomUUID(),
      host: to.host,
      shareTypeId: to.newTypeId,
      shareNetworkId: to.newNetworkId,
      wishes: to.wishes,
    }),
  });
  await setTaskState(tx, share.id, 'migration_starting');
}

/** The share under its lock, in a phase where this can be asked. */
async function lockedPhase(tx: Tx, id: string, what: 'complete' | 'cancel'): Promise<ShareRow> {
  await lockShare(tx, id);
  const share = await findShare(tx, id);
  if (!share) throw fault('shareNotFound', { id });
  assertPhase(what, share);
  if (share.status !== shareLife.migrate.via)
    throw fault('invalidShare', { reason: `share ${id} is ${share.status}; it is not being migrated` });
  if (await isBeingCancelled(tx, id))
    throw fault('invalidShare', { reason: `the migration of share ${id} is being cancelled` });
  return share;
}

async function progressOf(ctx: Ctx, id: string) {
  const share = await migratedShare(ctx, id, 'share:migration_get_progress');
  const { task_state } = share;
  if (task_state === null) throw fault('invalidShare', { reason: `share ${id} is not being migrated` });
  const destination = await destinationOf(ctx.db, share.id);
  return { total_progress: progressIn(task_state, destination?.progress ?? null), task_state, details: {} };
}
