/** Share servers that back ends have already come under management, and leave it, without being touched. */
import type { DrivenServer } from '#db/drivenServers.ts';
import { recordServerMade, removeShareServer, saveDetails } from '#db/shareServers.ts';
import { abandon, complete } from '#db/transition.ts';
import { serverLife } from '#domain/shareServers.ts';
import { DriverError } from '#drivers/driver.ts';
import { job, minutes } from './job.ts';
import { releasePorts, serversOf } from './serverPorts.ts';
import { madeBy, type SetUp, serverIn } from './shareServers.ts';

export const manageServer = job<DrivenServer, SetUp>({
  kind: serverLife.manage.kind,
  deadlineMs: minutes(10),
  load: (run) => serverIn(run, serverLife.manage),
  async perform({ host, server }, run) {
    const servers = serversOf(run, host);
    if (!servers.manage)
      throw new DriverError('unsupported', `the back end ${host} takes no share servers over`);
    const options = run.row.payload.options as Record<string, string>;
    const found = await servers.manage(server.identifier!, options, server, run.signal);
    return { details: found.details, made: await madeBy(run, host, found.identifier) };
  },
  async succeed(tx, { id }, { details, made }) {
    await saveDetails(tx, id, details);
    await recordServerMade(tx, id, made);
    await complete(tx, serverLife.manage, 'share_servers', id);
  },
  async fail(tx, { id }) {
    await abandon(tx, serverLife.manage, 'share_servers', id);
  },
});

export const unmanageServer = job<DrivenServer, void>({
  kind: serverLife.unmanage.kind,
  deadlineMs: minutes(10),
  load: (run) => serverIn(run, serverLife.unmanage),
  async perform(on, run) {
    try {
      await serversOf(run, on.host).unmanage?.(on.server, run.signal);
    } catch (error) {
      if (run.row.payload.force !== true) throw error;
      run.tools.log('warn', 'a share server is let go by force, its back end did not agree', {
        server: on.id,
        error: (error as Error).message,
      });
    }
    await releasePorts(on, run);
  },
  async succeed(tx, { id }) {
    await removeShareServer(tx, id);
  },
  async fail(tx, { id }) {
    await abandon(tx, serverLife.unmanage, 'share_servers', id);
  },
});

export const serverManagingJobs = [manageServer, unmanageServer];
