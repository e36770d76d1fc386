/**
 * How the data worker gets at the files of a share. The worker of its back end attaches it, which goes into the
 * payload of the job; the job goes on to the data worker's queue, which opens what was attached; a job of its own
 * on the back end's queue detaches it afterwards, however the copy ended.
 */
import { stat } from 'node:fs/promises';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { backendShare, findInstance, type InstanceRow } from '#db/shareInstances.ts';
import { shareQueue } from '#domain/services.ts';
import { type Attachment, DriverError } from '#drivers/driver.ts';
import { job, minutes, type Run } from '../job.ts';
import { driverOf } from '../shares.ts';
import { mount } from './mount.ts';

/** An attachment as it stands in a payload. `identity` tells the directory from an empty one in its place. */
export type Attached =
  | { kind: 'directory'; path: string; identity: string }
  | Extract<Attachment, { kind: 'nfs' }>;

/**
 * In the worker of the instance's back end: makes its files reachable for the data worker. It may be asked again.
 * Throws DriverError, unsupported where the back end opens no shares.
 */
export async function attachShare(run: Run, instance: InstanceRow, mode: 'ro' | 'rw'): Promise<Attached> {
  const { data } = driverOf(run, instance);
  if (!data) throw new DriverError('unsupported', 'the back end does not open shares to the data worker');
  const attachment = await data.attach(backendShare(instance), mode, run.signal);
  if (attachment.kind === 'nfs') return attachment;
  const identity = await identityOf(attachment.path);
  if (identity === null) throw new DriverError('failed', 'what the back end attached is not there');
  return { kind: 'directory', path: attachment.path, identity };
}

/** Files that can be read and written at `path` until `close`. */
export interface OpenTree {
  path: string;
  /** Throws Detached when it isn't any more what was opened: what was read of it since counts for nothing. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** The back end let go of a share while it was copied: it is to be attached again, and the copy to go on. */
export class Detached extends DriverError {
  constructor() {
    super('failed', 'the share is not attached to this machine');
    this.name = 'Detached';
  }
}

/**
 * In the data worker: opens what was attached; throws Detached when it isn't there (any more).
 */
export async function openTree(attached: Attached, id: string, run: Run): Promise<OpenTree> {
  if (attached.kind === 'nfs') return openMount(attached, id, run);
  const { path, identity } = attached;
  const check = async () => {
    if ((await identityOf(path)) !== identity) throw new Detached();
  };
  await check();
  return { path, check, close: async () => {} };
}

async function openMount(
  attached: Extract<Attached, { kind: 'nfs' }>,
  id: string,
  { tools: { settings }, signal }: Run,
): Promise<OpenTree> {
  const options = ['nosuid,nodev', attached.options, settings.data_node_mount_options.nfs ?? ''];
  const { path, unmount } = await mount(
    {
      location: settings.mount_tmp_location,
      label: `share-${id}`,
      mount: 'mount -t nfs %(options)s %(export)s %(path)s',
      unmount: 'umount %(path)s',
      values: { options: `-o ${options.filter(Boolean).join(',')}`, export: attached.export },
    },
    signal,
  );
  return { path, check: async () => {}, close: unmount };
}

async function identityOf(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => null,
  );
}

/**
 * Queues the detaching of an instance, in the transaction that ends its copy.
 */
export async function enqueueDetach(tx: Tx, instance: InstanceRow): Promise<void> {
  if (instance.host === null) return;
  await enqueue(tx, {
    kind: detachShare.kind,
    queue: shareQueue(instance.host),
    resource: instance.shareId,
    payload: { instanceId: instance.id },
  });
}

/** Lets go of a share that was attached. Its failure is logged: nothing waits for it, and attaching again is fine. */
export const detachShare = job<InstanceRow, void>({
  kind: 'share.detach',
  deadlineMs: minutes(5),
  load: ({ tools, row }) => findInstance(tools.db, row.payload.instanceId as string),
  perform: async (instance, run) => driverOf(run, instance).data?.detach(backendShare(instance), run.signal),
  async succeed() {},
  async fail() {},
});

export const dataJobs = [detachShare];
