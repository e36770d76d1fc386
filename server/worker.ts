/** The worker process: schedules, drives back ends, copies data; which of these, `--roles` says. */

import type { Db } from '#db/connection.ts';
import { portStore } from '#db/networkAllocations.ts';
import { onOutboxWrite } from '#db/outbox.ts';
import { heartbeat, registerService } from '#db/services.ts';
import type { PortLabel } from '#domain/network.ts';
import { DATA_QUEUE, shareQueue, splitHost } from '#domain/services.ts';
import type { Driver } from '#drivers/driver.ts';
import { createDriver } from '#drivers/index.ts';
import { ensureBackend } from '#jobs/ensure.ts';
import { storeExplanation } from '#jobs/explanations.ts';
import { jobs } from '#jobs/index.ts';
import type { Log, Networks, Tools } from '#jobs/job.ts';
import { type PeriodicTask, runPeriodically } from '#jobs/periodic.ts';
import { Placer } from '#jobs/placement.ts';
import { OUTBOX_CHANNEL, SCHEDULER_QUEUE } from '#jobs/queues.ts';
import { startRelay } from '#jobs/relay.ts';
import { reportReader, reportRegularly } from '#jobs/reports.ts';
import { startRunner } from '#jobs/runner.ts';
import { SchedulerConfigurationError, schedulerOptions } from '#jobs/scheduler/options.ts';
import { replicaStateTask } from '#jobs/shareReplicaState.ts';
import { backendTasks, periodicTasks } from '#jobs/tasks.ts';
import { createNetworkPlugin } from '#network/index.ts';
import type { Config } from './config/config.ts';
import { type Role, readWorkerArguments } from './process/arguments.ts';
import { endOnSignal, loadSources, run, startFoundation } from './process/start.ts';
import { StartError } from './process/startError.ts';
import { redisClient } from './redis.ts';

const usage = `Usage: node server/worker.ts [--config-file FILE]… [--config-dir DIR]… [--roles ROLE,…]

Runs jobs. Roles: scheduler (places shares, relays jobs, keeps house), share (drives the back ends in
enabled_share_backends), data (copies data). All of them when not said.`;

const CONCURRENCY = 16;
const START_DEADLINE_MS = 120_000;

run(async () => {
  const { roles, ...sources } = readWorkerArguments(usage);
  const config = loadSources(sources);
  if (roles.has('scheduler')) checkScheduler(config);
  if (roles.has('share') && Object.keys(config.backends).length === 0)
    throw new StartError('[DEFAULT] enabled_share_backends names no back end for the role share to drive');
  const { log, db } = await startFoundation(`worker:${[...roles].join(',')}`, config, 12);
  const redis = redisClient(config.redis.url, log);
  const subscriber = redisClient(config.redis.url, log);

  const backends = roles.has('share') ? await startBackends(config, db, log) : new Map<string, Backend>();
  const tools: Tools = {
    db,
    settings: { ...config.DEFAULT, quota: config.quota },
    log,
    driver: (backend) => backends.get(backend)?.driver,
    options: (backend) => config.backends[splitHost(backend).backend ?? ''],
    network: (backend) => backends.get(backend)?.networks,
    reports: reportReader(redis),
    // Not waited for: no share is late or lost for want of an explanation.
    explain: async (shareId, outcome) =>
      void storeExplanation(redis, shareId, outcome).catch((error: Error) =>
        log('warn', 'an explanation could not be kept', { shareId, error: error.message }),
      ),
  };
  if (roles.has('scheduler')) tools.placer = new Placer(tools);
  const relay = await startRelay({ db, redis, subscriber: roles.has('scheduler') ? subscriber : null, log });
  tools.send = relay.send;
  onOutboxWrite(() =>
    roles.has('scheduler') ? relay.poke() : void redis.publish(OUTBOX_CHANNEL, '1').catch(() => {}),
  );

  const services = await registerServices(roles, [...backends.keys()], config, db);
  const reports = reportRegularly(redis, driversOf(backends), config.DEFAULT.report_interval * 1000, log);
  await reports.now();
  for (const [host, driver] of driversOf(backends)) await ensureBackend(host, driver, tools);
  const queues = [
    ...(roles.has('scheduler') ? [SCHEDULER_QUEUE] : []),
    ...[...backends.keys()].map(shareQueue),
    ...(roles.has('data') ? [DATA_QUEUE] : []),
  ];
  const runner = startRunner({ queues, jobs, tools, redis, concurrency: CONCURRENCY });
  const periodic = runPeriodically(
    [
      {
        name: 'heartbeat',
        intervalMs: config.DEFAULT.report_interval * 1000,
        run: () => heartbeat(db, services),
      },
      ...(roles.has('scheduler') ? periodicTasks(tools) : []),
      ...[...backends.keys()].flatMap((host) => backendTasks(host, tools)),
      ...replicaTasks(tools, backends, config),
    ],
    log,
  );
  log('info', 'working', { roles: [...roles], backends: [...backends.keys()] });
  endOnSignal(log, config.DEFAULT.graceful_shutdown_timeout, async () => {
    await periodic.stop();
    reports.stop();
    await runner.stop();
    await relay.stop();
    await Promise.all([...backends.values()].map(({ driver }) => driver.stop()));
    redis.disconnect();
    subscriber.disconnect();
    await db.close();
  });
});

/** Filters and weighers that there aren't are told before anything is waited for. */
function checkScheduler(config: Config): void {
  try {
    schedulerOptions(config.DEFAULT);
  } catch (error) {
    if (error instanceof SchedulerConfigurationError) throw new StartError(`[DEFAULT] ${error.message}`);
    throw error;
  }
}

/** A back end that is served here: what drives it, and where its share servers get their ports. */
interface Backend {
  driver: Driver;
  networks: Networks | undefined;
}

/** The looks at replicas, of each back end that has any, at its own interval. */
function replicaTasks(tools: Tools, backends: ReadonlyMap<string, Backend>, config: Config): PeriodicTask[] {
  return [...backends]
    .filter(([, { driver }]) => driver.replication)
    .map(([host]) => {
      const { replica_state_update_interval: seconds } = config.backends[splitHost(host).backend!]!;
      return replicaStateTask(tools, host, seconds);
    });
}

function driversOf(backends: ReadonlyMap<string, Backend>): Map<string, Driver> {
  return new Map([...backends].map(([host, { driver }]) => [host, driver]));
}

/** The back ends by `host@backend`. One that can't start keeps only itself from serving, loudly. */
async function startBackends(config: Config, db: Db, log: Log): Promise<Map<string, Backend>> {
  const started = new Map<string, Backend>();
  await Promise.all(
    Object.entries(config.backends).map(async ([backend, section]) => {
      const host = `${config.DEFAULT.host}@${backend}`;
      try {
        const networks = networksOf(backend, config, db);
        const driver = await createDriver(section.share_driver, {
          backend,
          host,
          options: section.options,
          stateDirectory: `${config.DEFAULT.state_path}/${backend}`,
          log: (level, message, detail) => log(level, message, { backend, ...detail }),
        });
        await driver.start(AbortSignal.timeout(START_DEADLINE_MS));
        started.set(host, { driver, networks });
      } catch (error) {
        log('error', 'a back end could not be started', { host, error: (error as Error).stack });
      }
    }),
  );
  if (started.size === 0) throw new StartError('No back end could be started; the log says why');
  return started;
}

/** The network plug-ins of a back end that handles share servers; undefined for others. */
function networksOf(backend: string, config: Config, db: Db): Networks | undefined {
  const { driver_handles_share_servers, network_config_group, admin_network_config_group } =
    config.backends[backend]!;
  if (!driver_handles_share_servers) return undefined;
  const store = portStore(db);
  const plugin = (section: string, label: PortLabel) =>
    createNetworkPlugin({ section, options: config.networks[section]!, label }, store);
  return {
    tenant: plugin(network_config_group ?? backend, 'user'),
    admin: admin_network_config_group === null ? null : plugin(admin_network_config_group, 'admin'),
  };
}

async function registerServices(
  roles: ReadonlySet<Role>,
  backends: string[],
  config: Config,
  db: Db,
): Promise<number[]> {
  const { host, storage_availability_zone: zone } = config.DEFAULT;
  const services = [
    ...(roles.has('scheduler')
      ? [{ host, binary: 'manila-scheduler', topic: 'manila-scheduler', zone }]
      : []),
    ...backends.map((backend) => ({ host: backend, binary: 'manila-share', topic: 'manila-share', zone })),
    ...(roles.has('data') ? [{ host, binary: 'manila-data', topic: 'manila-data', zone }] : []),
  ];
  const ids: number[] = [];
  for (const service of services) ids.push(await registerService(db, service));
  return ids;
}
