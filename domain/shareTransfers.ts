/**
 * Transfers of shares: a share waits for another project, which accepts it with a key. Only a keyed hash of the key
 * is kept, beside its salt.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { fault } from './faults.ts';

export interface KeptKey {
  salt: string;
  hash: string;
}

/** A new key, which the caller is shown once, and what is kept of it. */
export function newTransferKey(): KeptKey & { key: string } {
  const key = randomBytes(8).toString('hex');
  const salt = randomBytes(8).toString('hex');
  return { key, salt, hash: hashOf(key, salt) };
}

/** Is it the key? Takes as long whatever is wrong with it. */
export function isTransferKey(key: string, kept: KeptKey): boolean {
  const [given, known] = [hashOf(key, kept.salt), kept.hash].map((hash) => Buffer.from(hash));
  return given!.length === known!.length && timingSafeEqual(given!, known!);
}

function hashOf(key: string, salt: string): string {
  return createHmac('sha256', salt).update(key).digest('hex');
}

/** What of a share bears on whether it can go to another project. */
export interface Transferable {
  id: string;
  share_group_id: string | null;
  share_network_id: string | null;
  has_replicas: boolean;
}

/** Throws when the share hangs on something of its project that would stay behind. */
export function assertTransferable(
  share: Transferable,
  backups: number,
  snapshots: readonly { id: string; status: string }[],
): void {
  const refuse = (reason: string) => {
    throw fault('invalidShare', { reason: `share ${share.id} can't be transferred: ${reason}` });
  };
  if (share.share_group_id !== null) refuse(`it is in share group ${share.share_group_id}`);
  if (share.share_network_id !== null) refuse(`it is on share network ${share.share_network_id}`);
  if (share.has_replicas) refuse('it has replicas');
  if (backups > 0) refuse(`it has ${backups} backup(s)`);
  const busy = snapshots.find(({ status }) => status !== 'available');
  if (busy)
    throw fault('invalidSnapshot', {
      reason: `snapshot ${busy.id} is ${busy.status}; a share can be transferred when its snapshots are available`,
    });
}
