/**
 * Share groups: placed by the scheduler, made and unmade by the worker of their back end. A group from a snapshot is
 * made first, then its shares by jobs of their own, and it is available when all of them are.
 */

import type { Tx } from '#db/connection.ts';
import { findDrivenServer } from '#db/drivenServers.ts';
import type { MessageAction, MessageDetail } from '#db/messages.ts';
import { enqueue } from '#db/outbox.ts';
import { release } from '#db/quotas.ts';
import {
  backendGroup,
  findShareGroup,
  forgetServerOfGroup,
  placeShareGroup,
  removeShareGroup,
  type ShareGroupRow,
  setConsistency,
  sharesOfGroup,
} from '#db/shareGroups.ts';
import { findShareGroupType } from '#db/shareGroupTypes.ts';
import { findShareType } from '#db/shareTypes.ts';
import { abandon, complete } from '#db/transition.ts';
import type { BackendGroup, BackendShareServer } from '#domain/backend.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { backendOf, shareQueue } from '#domain/services.ts';
import { shareGroupJobs, shareGroupLife } from '#domain/shareGroups.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import { type Driver, DriverError } from '#drivers/driver.ts';
import { job, minutes, type Run, TryAgain } from './job.ts';
import { PATIENT_ATTEMPTS, placerOf } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import { NoShareServer, provideServer } from './serverPlacement.ts';
import { leaveServer } from './shareServers.ts';
import { tell } from './tell.ts';

/** Finds the pool, then hands the group on to that pool's worker. */
export const scheduleShareGroup = job<ShareGroupRow, Outcome>({
  kind: shareGroupLife.create.kind,
  deadlineMs: minutes(1),
  load: (run) => loadIn(run, shareGroupLife.create),
  async perform(group, { tools, row }) {
    const types = await Promise.all(group.share_types.map((id) => findShareType(tools.db, id, null)));
    const groupType = await findShareGroupType(tools.db, group.share_group_type_id ?? '', null);
    return placerOf(tools).placeGroup(
      {
        id: group.id,
        shareTypes: types
          .filter((type) => type !== undefined)
          .map((type) => ({ name: type.name, extraSpecs: type.extra_specs })),
        groupSpecs: groupType?.group_specs ?? {},
        availabilityZone: group.availability_zone,
      },
      row.attempts < PATIENT_ATTEMPTS,
    );
  },
  async succeed(tx, group, outcome, run) {
    if (outcome.refused) {
      await failCreation(tx, group, run, 'allocateHost', outcome.detail);
      return;
    }
    await placeShareGroup(tx, group.id, outcome.host);
    return { queue: shareQueue(outcome.host), kind: shareGroupJobs.provision };
  },
  async fail(tx, group, _error, run) {
    await failCreation(tx, group, run, 'allocateHost', 'unknownError');
  },
});

/** Makes a placed group on its back end; its shares, where it is made from a snapshot, follow. */
export const provisionShareGroup = job<ShareGroupRow, 'pool' | 'host' | null>({
  kind: shareGroupJobs.provision,
  deadlineMs: minutes(10),
  load: (run) => loadIn(run, shareGroupLife.create),
  async perform(group, run) {
    const driver = driverOfGroup(run, group);
    const server = driver.servers ? await serverFor(group, run) : undefined;
    await driver.groups?.create({ ...backendGroup(group), ...(server ? { server } : {}) }, run.signal);
    const { sg_consistent_snapshot_support: support } = await driver.stats(run.signal);
    return support === 'pool' || support === 'host' ? support : null;
  },
  async undo(group, run) {
    // Read anew: it may have got a share server since.
    const now = await findShareGroup(run.tools.db, group.id);
    if (now) await removeFromBackend(now, run);
  },
  async succeed(tx, group, support, run) {
    await setConsistency(tx, group.id, support);
    const shares = await sharesOfGroup(tx, group.id);
    if (shares.length === 0) {
      await complete(tx, shareGroupLife.create, 'share_groups', group.id);
      return;
    }
    for (const { shareId, instanceId, host } of shares) {
      await enqueue(tx, {
        kind: shareJobs.provision,
        queue: shareQueue(host ?? group.host!),
        resource: shareId,
        payload: { ...run.requester, shareId, instanceId },
      });
    }
    return { queue: shareQueue(group.host!), kind: shareGroupJobs.fill };
  },
  async fail(tx, group, error, run) {
    for (const { instanceId } of await sharesOfGroup(tx, group.id))
      await abandon(tx, shareLife.create, 'share_instances', instanceId);
    const isServerless = error instanceof NoShareServer;
    if (isServerless) await forgetServerOfGroup(tx, group.id);
    await failCreation(tx, group, run, 'create', isServerless ? 'noShareServer' : 'unknownError');
  },
});

/** Waits for the shares of a group from a snapshot: each ends, well or not, by its own job. */
export const fillShareGroup = job<ShareGroupRow, boolean>({
  kind: shareGroupJobs.fill,
  deadlineMs: minutes(1),
  load: (run) => loadIn(run, shareGroupLife.create),
  async perform(group, { tools }) {
    const shares = await sharesOfGroup(tools.db, group.id);
    if (shares.some(({ status }) => status === shareLife.create.via))
      throw new TryAgain(`shares of group ${group.id} are being made`, { counts: false });
    return shares.every(({ status }) => status !== shareLife.create.onError);
  },
  async succeed(tx, group, isWhole, run) {
    if (isWhole) await complete(tx, shareGroupLife.create, 'share_groups', group.id);
    else await failCreation(tx, group, run, 'create', 'driverFailedCreatingFromSnapshot');
  },
  async fail(tx, group, _error, run) {
    await failCreation(tx, group, run, 'create', 'unknownError');
  },
});

/** Unmakes an empty group: what the back end has of it, its rows, and what it counted. */
export const deleteShareGroup = job<ShareGroupRow, void>({
  kind: shareGroupLife.delete.kind,
  deadlineMs: minutes(10),
  load: (run) => loadIn(run, shareGroupLife.delete),
  async perform(group, run) {
    try {
      await removeFromBackend(group, run);
    } catch (error) {
      if (run.row.payload.force !== true || run.signal.aborted) throw error;
      run.tools.log('warn', 'a share group is deleted by force, its back end may keep a rest', {
        shareGroup: group.id,
        error: (error as Error).message,
      });
    }
  },
  async succeed(tx, group, _result, run) {
    if (!(await removeShareGroup(tx, group.id))) return;
    if (group.share_server_id !== null) await leaveServer(tx, group.share_server_id, run);
    const owner = { projectId: group.project_id, userId: group.user_id, shareTypeId: null };
    await release(tx, owner, { share_groups: 1 });
  },
  async fail(tx, group, _error, run) {
    await abandon(tx, shareGroupLife.delete, 'share_groups', group.id);
    await tellOfGroup(tx, group, run, 'delete', 'unknownError');
  },
});

/** The group, while it is still in the step's state. */
async function loadIn({ tools, row }: Run, step: NamedStep): Promise<ShareGroupRow | undefined> {
  const group = await findShareGroup(tools.db, row.payload.groupId as string);
  return group?.status === step.via ? group : undefined;
}

/** The driver of a group's back end; its absence is a failure of the job. */
export function driverOfGroup(run: Run, group: ShareGroupRow): Driver {
  const driver = group.host === null ? undefined : run.tools.driver(backendOf(group.host));
  if (!driver) throw new DriverError('failed', `the back end of ${group.host} is not served here`);
  return driver;
}

/** The share server that the group's shares are to be on. Throws NoShareServer, or TryAgain while it is being made. */
async function serverFor(group: ShareGroupRow, run: Run): Promise<BackendShareServer> {
  if (group.share_network_id === null)
    throw new NoShareServer(`share group ${group.id} has no share network`);
  return provideServer(
    {
      holder: 'share_groups',
      id: group.id,
      host: group.host!,
      networkId: group.share_network_id,
      zone: group.availability_zone,
      size: 0,
      encryptionKeyRef: null,
      only: null,
    },
    run,
  );
}

/** The group as its driver sees it, with its share server where it has one. */
export async function groupOnServer(group: ShareGroupRow, run: Run): Promise<BackendGroup> {
  const id = group.share_server_id;
  const found = id === null ? undefined : await findDrivenServer(run.tools.db, id);
  return { ...backendGroup(group), ...(found ? { server: found.server } : {}) };
}

/** A group without a server on a back end that handles servers was never made there. */
async function removeFromBackend(group: ShareGroupRow, run: Run): Promise<void> {
  const driver = driverOfGroup(run, group);
  if (driver.servers && group.share_server_id === null) return;
  await driver.groups?.delete(await groupOnServer(group, run), run.signal);
}

async function failCreation(
  tx: Tx,
  group: ShareGroupRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  await abandon(tx, shareGroupLife.create, 'share_groups', group.id);
  await tellOfGroup(tx, group, run, action, detail);
}

/** A user message about the group, to the project it belongs to. */
export function tellOfGroup(
  tx: Tx,
  group: ShareGroupRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  const about = { projectId: group.project_id, resourceType: 'SHARE_GROUP', resourceId: group.id } as const;
  return tell(tx, run, about, action, detail);
}

export const shareGroupJobList = [scheduleShareGroup, provisionShareGroup, fillShareGroup, deleteShareGroup];
