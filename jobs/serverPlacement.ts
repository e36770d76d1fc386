/** Finds a share server for what needs one, and waits until it serves. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { findDrivenServer } from '#db/drivenServers.ts';
import type { MessageDetail } from '#db/messages.ts';
import { enqueue } from '#db/outbox.ts';
import { placeOnServer, type ServerNeed } from '#db/serverPlacement.ts';
import { subnetsOf } from '#db/shareNetworkSubnets.ts';
import type { BackendShareServer } from '#domain/backend.ts';
import { backendOf, shareQueue } from '#domain/services.ts';
import { ACTIVE, passing, serverLife, subnetsForZone } from '#domain/shareServers.ts';
import { DriverError } from '#drivers/driver.ts';
import { type Run, TryAgain } from './job.ts';

/** A share server could not be had. `told`: the users who wait for it have heard why already. */
export class NoShareServer extends DriverError {
  readonly told: boolean;
  readonly detail: MessageDetail;
  constructor(message: string, told = false, detail: MessageDetail = 'noShareServer') {
    super('failed', message);
    this.told = told;
    this.detail = detail;
  }
}

export interface Wanted extends Omit<ServerNeed, 'subnetIds' | 'host'> {
  /** where the holder is: `host@backend#pool` */
  host: string;
  /** the zone that the back end is in */
  zone: string | null;
}

/** A run waits this long for a server; then it gives its place to other jobs, and looks again later. */
const WAIT_MS = 1_000;
const LOOK_MS = 40;

/** The server of the holder, serving: chosen, or set up by a job of its own. Throws NoShareServer, or TryAgain while it is being made. */
export async function provideServer(wanted: Wanted, run: Run): Promise<BackendShareServer> {
  const { db } = run.tools;
  const host = backendOf(wanted.host);
  const subnets = subnetsForZone(await subnetsOf(db, wanted.networkId), wanted.zone);
  if (subnets.length === 0)
    throw new NoShareServer(`share network ${wanted.networkId} has no subnet in zone ${wanted.zone}`);
  const limits = run.tools.options(host);
  if (!limits) throw new NoShareServer(`the back end ${host} is not served here`);
  const newId = randomUUID();
  const need = { ...wanted, host, subnetIds: subnets.map(({ id }) => id) };
  const placement = await db.transaction(async (tx) => {
    const placed = await placeOnServer(tx, need, limits, newId);
    if (placed.kind === 'assigned' && placed.isNew)
      await enqueue(tx, {
        kind: serverLife.setup.kind,
        queue: shareQueue(host),
        resource: placed.serverId,
        payload: { ...run.requester, serverId: placed.serverId },
      });
    return placed;
  });
  if (placement.kind === 'none')
    throw new NoShareServer('the share server that it has to be on is not active');
  if (placement.kind === 'wait') {
    throw new TryAgain('another share server is just being made in the same subnets', { counts: false });
  }
  return serving(placement.serverId, run);
}

async function serving(serverId: string, run: Run): Promise<BackendShareServer> {
  for (const until = Date.now() + WAIT_MS; ; ) {
    const found = await findDrivenServer(run.tools.db, serverId);
    if (found?.status === ACTIVE) return found.server;
    if (!found || !passing.includes(found.status))
      throw new NoShareServer(
        `share server ${serverId} is ${found?.status ?? 'gone'}`,
        found?.status === 'error',
      );
    if (Date.now() > until)
      throw new TryAgain(`share server ${serverId} is just being set up`, { counts: false });
    await sleep(LOOK_MS, undefined, { signal: run.signal });
  }
}
