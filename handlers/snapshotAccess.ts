/** Access rules of snapshots: who may mount one, read-only. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { findShare } from '#db/shares.ts';
import { insertSnapshotRule, queueDenial, snapshotRules } from '#db/snapshotAccess.ts';
import { instancesOfSnapshot } from '#db/snapshotInstances.ts';
import { lockSnapshot, type SnapshotRow } from '#db/snapshots.ts';
import { readAccess, sameAccess } from '#domain/accessRules.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { snapshotAccessJob } from '#domain/snapshots.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const snapshotAccess = {
  async listSnapshotAccess({ ctx, path }) {
    const snapshot = await mountable(ctx, path.snapshot_id, 'share_snapshot:access_list');
    return { snapshot_access_list: await snapshotRules(ctx.db, snapshot.id) };
  },

  async allowSnapshotAccess({ ctx, path, body }) {
    const rule = readAccess(body.access_type, body.access_to, {
      ipv6: ctx.allows('ipv6Access'),
      cephx: false,
    });
    const snapshot = await mountable(ctx, path.id, 'share_snapshot:allow_access');
    const id = randomUUID();
    await ctx.transaction(async (tx) => {
      const instances = await settledInstances(tx, snapshot);
      for (const other of await snapshotRules(tx, snapshot.id)) {
        const named = { accessType: other.access_type, accessTo: other.access_to };
        if (sameAccess(named, rule))
          throw fault('accessExists', { type: rule.accessType, to: rule.accessTo });
      }
      await insertSnapshotRule(
        tx,
        { id, snapshotId: snapshot.id, ...rule },
        instances.map((instance) => ({ mapId: randomUUID(), instanceId: instance.id })),
      );
      await beginSync(tx, ctx, snapshot, instances);
    });
    const [made] = await snapshotRules(ctx.db, snapshot.id, id);
    return { snapshot_access: made! };
  },

  async denySnapshotAccess({ ctx, path, body }) {
    const snapshot = await mountable(ctx, path.id, 'share_snapshot:deny_access');
    await ctx.transaction(async (tx) => {
      const instances = await settledInstances(tx, snapshot);
      const [rule] = await snapshotRules(tx, snapshot.id, body.access_id);
      if (!rule) throw fault('accessNotFound', { id: body.access_id });
      if (await queueDenial(tx, rule.id)) await beginSync(tx, ctx, snapshot, instances);
    });
  },
} satisfies Partial<Handlers>;

/** The snapshot, if the caller may do this to it and its share lets snapshots be mounted. */
async function mountable(ctx: Ctx, id: string, policy: PolicyName): Promise<SnapshotRow> {
  const snapshot = await visibleSnapshot(ctx, id, policy);
  const share = await findShare(ctx.db, snapshot.share_id);
  if (!share?.mount_snapshot_support) {
    throw fault('invalidShare', {
      reason: `snapshots of share ${snapshot.share_id} can't be mounted: its type lacks mount_snapshot_support`,
    });
  }
  return snapshot;
}

/** The snapshot's instances, its row locked; rules change only while nothing else happens to it. */
async function settledInstances(tx: Tx, { id }: SnapshotRow) {
  if (!(await lockSnapshot(tx, id))) throw fault('snapshotNotFound', { id });
  const instances = await instancesOfSnapshot(tx, id);
  const busy = instances.find(({ status }) => status !== 'available');
  if (busy) {
    throw fault('invalidSnapshot', {
      reason: `snapshot ${id} is ${busy.status}; its access rules can be changed when it is available`,
    });
  }
  return instances;
}

async function beginSync(
  tx: Tx,
  ctx: Ctx,
  snapshot: SnapshotRow,
  instances: Awaited<ReturnType<typeof settledInstances>>,
): Promise<void> {
  for (const instance of instances) {
    await enqueue(tx, {
      kind: snapshotAccessJob,
      queue: shareQueue(instance.host),
      resource: snapshot.share_id,
      payload: jobFor(ctx, { snapshotId: snapshot.id, instanceId: instance.id }),
    });
  }
}
