/**
 * A share server moves to another back end or network, by its back ends' own means. In a first phase its shares
 * serve on where they are; an admin then has it switched over, or gives it up. Jobs hang on the server that is moved
 * away from, and run where it goes to.
 */
import type { Tx } from '#db/connection.ts';
import { type DrivenServer, findDrivenServer } from '#db/drivenServers.ts';
import { enqueue } from '#db/outbox.ts';
import {
  advanceTask,
  beginMovingTo,
  destinationOf,
  freeShares,
  migrationsToContinue,
  moveShares,
  setMigration,
} from '#db/serverMigration.ts';
import { backendShare, instancesOnServer } from '#db/shareInstances.ts';
import {
  advanceServerTask,
  findShareServer,
  insertShareServer,
  lockShareServer,
  recordServerMade,
  saveDetails,
  setServerTask,
} from '#db/shareServers.ts';
import { shareQueue } from '#domain/services.ts';
import { ACTIVE, MIGRATING_TO, migrationJobs, serverLife, serverTask } from '#domain/shareServers.ts';
import { DriverError, type ExportLocation, type ShareServerMigration } from '#drivers/driver.ts';
import { job, minutes, type Requester, type Run, type Tools, writeMidway } from './job.ts';
import { serversOf } from './serverPorts.ts';
import { beginDeletion, type SetUp, setUp, takeDown } from './shareServers.ts';

/** What an admin asked for. */
export interface MigrationAsked {
  serverId: string;
  destinationId: string;
  /** `host@backend` */
  host: string;
  subnetIds: string[];
  writable: boolean;
  nondisruptive: boolean;
  preserveSnapshots: boolean;
}

function migrationOf(run: Run, host: string): ShareServerMigration {
  const { migration } = serversOf(run, host);
  if (!migration) throw new DriverError('unsupported', `the back end ${host} moves no share servers`);
  return migration;
}

const askedOf = ({ row }: Run) => row.payload as unknown as MigrationAsked;

/** The server that moves, while its migration is in this phase. */
async function sourceIn({ tools, row }: Run, ...tasks: string[]): Promise<DrivenServer | undefined> {
  const source = await findDrivenServer(tools.db, row.payload.serverId as string);
  return source?.status === serverLife.migrate.via && tasks.includes(source.taskState!) ? source : undefined;
}

export const startMigration = job<DrivenServer, SetUp>({
  kind: serverLife.migrate.kind,
  deadlineMs: minutes(60),
  load: (run) => sourceIn(run, serverTask.starting, serverTask.inProgress, serverTask.driverStarting),
  async perform(source, run) {
    const asked = askedOf(run);
    const migration = migrationOf(run, asked.host);
    const made = await setUp(await destinationRow(source, run), run);
    await run.tools.db.transaction(async (tx) => {
      await lockShareServer(tx, source.id);
      await saveDetails(tx, asked.destinationId, made.details);
      await advanceTask(tx, source.id, serverTask.inProgress, serverTask.driverStarting);
    });
    const destination = (await findDrivenServer(run.tools.db, asked.destinationId))!;
    const shares = (await instancesOnServer(run.tools.db, source.id)).map(backendShare);
    const can = await migration.check(source.server, destination.server, shares, run.signal);
    const lacks = [
      ...(can.compatible ? [] : ['compatible']),
      ...(asked.writable && !can.writable ? ['writable'] : []),
      ...(asked.nondisruptive && !can.nondisruptive ? ['nondisruptive'] : []),
      ...(asked.preserveSnapshots && !can.preserveSnapshots ? ['preserve_snapshots'] : []),
    ];
    if (lacks.length > 0)
      throw new DriverError('unsupported', `the migration can't be ${lacks.join(', ')} as asked`);
    await migration.start(source.server, destination.server, run.signal);
    return made;
  },
  async undo(_source, run) {
    const destination = await findDrivenServer(run.tools.db, askedOf(run).destinationId);
    if (destination) await takeDown(destination, run);
  },
  async succeed(tx, source, { made }, run) {
    const { destinationId } = askedOf(run);
    await recordServerMade(tx, destinationId, made);
    await beginMovingTo(tx, destinationId, source.id);
    await setServerTask(tx, source.id, serverTask.driverInProgress);
  },
  async fail(tx, source, _error, run) {
    await setMigration(tx, askedOf(run).destinationId, serverLife.setup.via, {
      status: 'error',
      task: serverTask.error,
    });
    await giveUp(tx, source.id, serverTask.error);
  },
});

/** The row of the server that is moved to: written by the first run, found by others. */
async function destinationRow(source: DrivenServer, run: Run): Promise<DrivenServer> {
  const { destinationId: id, host, subnetIds } = askedOf(run);
  await writeMidway(run, async (tx) => {
    await lockShareServer(tx, source.id);
    if (await findShareServer(tx, id)) return;
    await insertShareServer(tx, {
      id,
      host,
      status: serverLife.setup.via,
      subnetIds,
      isAutoDeletable: true,
      identifier: null,
      sourceId: null,
      taskState: null,
    });
    await setServerTask(tx, source.id, serverTask.inProgress);
  });
  return (await findDrivenServer(run.tools.db, id))!;
}

/** The source serves on as before. */
async function giveUp(tx: Tx, sourceId: string, task: string): Promise<void> {
  await setMigration(tx, sourceId, serverLife.migrate.via, { status: ACTIVE, task });
  await freeShares(tx, sourceId, 'available');
}

interface Move {
  source: DrivenServer;
  destination: DrivenServer;
}

async function moveIn(run: Run, task: string): Promise<Move | undefined> {
  const source = await sourceIn(run, task);
  const destination = source && (await destinationOf(run.tools.db, source.id));
  return source && destination && { source, destination };
}

interface Step {
  isDone: boolean;
  /** per cent */
  progress: number;
}

export const continueMigration = job<Move, Step>({
  kind: migrationJobs.continue,
  deadlineMs: minutes(60),
  load: (run) => moveIn(run, serverTask.driverInProgress),
  async perform({ source, destination }, run) {
    const migration = migrationOf(run, destination.host);
    const isDone = await migration.continue(source.server, destination.server, run.signal);
    const progress = isDone ? 100 : await migration.progress(source.server, destination.server, run.signal);
    return { isDone, progress };
  },
  undo: ({ source, destination }, run) =>
    migrationOf(run, destination.host).cancel(source.server, destination.server, run.signal),
  async succeed(tx, { source, destination }, { isDone, progress }) {
    await saveDetails(tx, destination.id, { migration_progress: String(progress) });
    if (!isDone) return;
    // Not when the migration is being given up since.
    if (await advanceServerTask(tx, source.id, serverTask.driverInProgress, serverTask.phase1Done))
      await setServerTask(tx, destination.id, serverTask.phase1Done);
  },
  async fail(tx, { source, destination }) {
    await setMigration(tx, destination.id, MIGRATING_TO, { status: 'error', task: serverTask.error });
    await giveUp(tx, source.id, serverTask.error);
  },
});

export const completeMigration = job<Move, ReadonlyMap<string, ExportLocation[]>>({
  kind: migrationJobs.complete,
  deadlineMs: minutes(60),
  load: (run) => moveIn(run, serverTask.completing),
  async perform({ source, destination }, run) {
    const shares = (await instancesOnServer(run.tools.db, source.id)).map(backendShare);
    return migrationOf(run, destination.host).complete(source.server, destination.server, shares, run.signal);
  },
  async succeed(tx, { source, destination }, locations, run) {
    await moveShares(tx, source.id, destination, locations);
    await freeShares(tx, destination.id, 'available');
    await setMigration(tx, destination.id, MIGRATING_TO, { status: ACTIVE, task: serverTask.success });
    await setMigration(tx, source.id, serverLife.migrate.via, {
      status: 'inactive',
      task: serverTask.success,
    });
    const left = await findShareServer(tx, source.id);
    if (left?.is_auto_deletable) await beginDeletion(tx, left, run.requester, ['inactive']);
  },
  async fail(tx, { source, destination }) {
    // Which of the two serves now is not known: an admin has to look.
    await freeShares(tx, source.id, 'error');
    const failed = { status: 'error', task: serverTask.error };
    await setMigration(tx, destination.id, MIGRATING_TO, failed);
    await setMigration(tx, source.id, serverLife.migrate.via, failed);
  },
});

export const cancelMigration = job<Move, void>({
  kind: migrationJobs.cancel,
  deadlineMs: minutes(60),
  load: (run) => moveIn(run, serverTask.cancelling),
  perform: ({ source, destination }, run) =>
    migrationOf(run, destination.host).cancel(source.server, destination.server, run.signal),
  async succeed(tx, { source, destination }) {
    await setMigration(tx, destination.id, MIGRATING_TO, {
      status: 'inactive',
      task: serverTask.cancelled,
    });
    await giveUp(tx, source.id, serverTask.cancelled);
  },
  async fail(tx, { source, destination }) {
    await setMigration(tx, destination.id, MIGRATING_TO, { status: 'error', task: serverTask.error });
    await giveUp(tx, source.id, serverTask.error);
  },
});

/** Takes the moves to a back end, `host@backend`, a step further. */
export async function continueServerMigrations(host: string, { db }: Tools): Promise<void> {
  const requester: Requester = { requestId: '', projectId: '', userId: '' };
  for (const serverId of await migrationsToContinue(db, host)) {
    await db.transaction((tx) =>
      enqueue(tx, {
        kind: migrationJobs.continue,
        queue: shareQueue(host),
        resource: serverId,
        payload: { ...requester, serverId },
      }),
    );
  }
}

export const serverMigrationJobs = [startMigration, continueMigration, completeMigration, cancelMigration];
