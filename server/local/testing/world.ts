/**
 * A small world without an API server or Redis: a database with shares in it, callers for handlers, and the jobs
 * that handlers leave behind, scheduled and run here one after the other against a fake back end, `testhost@fake`.
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, type Db } from '#db/connection.ts';
import { take, withQuota } from '#db/quotas.ts';
import { registerService } from '#db/services.ts';
import { insertShare, type NewShare } from '#db/shares.ts';
import { createEnforcer } from '#domain/policy/enforcer.ts';
import { type QuotaDefaults, quotaResources } from '#domain/quotas.ts';
import { sharesQuota } from '#domain/shares.ts';
import { now } from '#domain/time.ts';
import type { DataAccess, Driver } from '#drivers/driver.ts';
import { createDriver } from '#drivers/index.ts';
import type { Ctx } from '#handlers/context.ts';
import type { Settings } from '#handlers/settings.ts';
import { jobs } from '#jobs/index.ts';
import type { Tools } from '#jobs/job.ts';
import { Placer } from '#jobs/placement.ts';
import { runJob } from '#jobs/runner.ts';
import { defaultSettings as schedulerSettings } from '#jobs/scheduler/options.ts';
import { continueServerMigrations } from '#jobs/serverMigration.ts';
import type { BackendSettings, JobSettings } from '#jobs/settings.ts';
import { cleanUpServers } from '#jobs/shareServers.ts';
import { RequestCtx } from '#server/http/ctx.ts';
import { addNetwork, testNetworks, type WorldNetwork } from './networks.ts';
import { startTestDatabase } from './services.ts';

/** The back end of the world's shares. */
export const HOST = 'testhost@fake';
/** One beside it that handles share servers, without shares so far. */
export const SERVERS_HOST = 'testhost@servers';
const settings = {
  ...schedulerSettings,
  osapi_max_limit: 1000,
  transfer_retention_time: 300,
  update_shares_status_on_ensure: true,
  is_deferred_deletion_enabled: false,
  default_share_type: null,
  default_share_group_type: null,
  enabled_share_protocols: ['NFS', 'CIFS'],
  use_scheduler_creating_share_from_snapshot: false,
  service_down_time: 86_400,
  admin_only_metadata: ['__affinity_same_host', '__affinity_different_host'],
  message_ttl: 3600,
  mount_tmp_location: '/tmp/',
  check_hash: true,
  backup_mount_export: null as string | null,
  backup_mount_tmp_location: '/tmp/',
  backup_continue_update_interval: 0.01,
  restore_continue_update_interval: 0.01,
  quota: {
    ...(Object.fromEntries(quotaResources.map((name) => [name, 1000])) as QuotaDefaults),
    per_share_gigabytes: -1,
    reservation_expire: 3600,
  },
};

interface Who {
  projectId?: string;
  userId?: string;
  roles?: string[];
  version?: number;
}

export interface WorldShare {
  id: string;
  instanceId: string;
  projectId: string;
  userId: string;
}

export interface World {
  db: Db;
  /** Someone who calls handlers: a member of a new project unless said. */
  caller(who?: Who): Ctx;
  /** An available NFS share of 1 GiB whose type can everything, in a new project unless said. */
  share(over?: Partial<NewShare>): Promise<WorldShare>;
  setQuota(projectId: string, resource: string, limit: number): Promise<void>;
  /** Gives the back end other options (drivers/fake): failures, delays; `adapt` makes another of it altogether. */
  rebuild(options?: Record<string, string>, adapt?: (driver: Driver) => Driver): Promise<void>;
  /** The same for the one that handles share servers; `addresses` is how many its network has for tenants. */
  rebuildServers(options?: Record<string, string>, addresses?: number): Promise<void>;
  /** The periodic look for share servers that are unused. */
  cleanUpServers(): Promise<void>;
  /** The periodic step of share servers that move. */
  continueServerMigrations(): Promise<void>;
  /** A share network with one subnet for every zone, in a new project unless said. */
  network(projectId?: string): Promise<WorldNetwork>;
  /** Has the back end open shares to the data worker, each a directory of its id in here; `over`: where backups go. */
  openShares(directory: string, over: Partial<JobSettings>): void;
  /** What jobs read of the back end's section: to be changed at will. */
  backendOptions: BackendSettings;
  /** Runs what waits for the share (or another resource), in order, each job by so many workers at once; answers the kinds of the jobs. */
  work(shareId: string, workers?: number): Promise<string[]>;
  /** As `work`, but the first that waits only; undefined when nothing does. */
  step(shareId: string, workers?: number): Promise<string | undefined>;
  /** in_use and reserved of the project, where there is any */
  usage(projectId: string): Promise<Record<string, [inUse: number, reserved: number]>>;
  /** [action, detail] of the messages about a resource */
  messages(resourceId: string): Promise<[string, string][]>;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const database = await startTestDatabase();
  const db = connect(database.address);
  const enforcer = createEnforcer();
  let driver: Driver = await fakeDriver();
  const backendOptions: BackendSettings = {
    unmanage_remove_access_rules: false,
    migration_driver_continue_update_interval: 0.02,
    migration_ignore_files: ['lost+found'],
    ...serverOptions,
  };
  let opened: { data?: DataAccess } = {};
  const jobSettings = { ...settings };
  let withServers: Driver = await fakeDriver(handlingServers);
  let networks = testNetworks(db);
  const drivers = (backend: string) =>
    backend === HOST ? { ...driver, ...opened } : backend === SERVERS_HOST ? withServers : undefined;
  const reports = () =>
    Promise.all(
      [HOST, SERVERS_HOST].map(async (host) => {
        return { host, at: now(), stats: await drivers(host)!.stats(AbortSignal.timeout(1000)) };
      }),
    );
  const tools = {
    db,
    settings: jobSettings,
    log: () => {},
    driver: drivers,
    options: (backend: string) => (drivers(backend) ? backendOptions : undefined),
    network: (backend: string) => (backend === SERVERS_HOST ? networks : undefined),
    reports,
  } as unknown as Tools;
  tools.placer = new Placer(tools);
  for (const host of [HOST, SERVERS_HOST])
    await registerService(db, { host, binary: 'manila-share', topic: 'manila-share', zone: 'nova' });

  const step = async (shareId: string, workers = 1) => {
    const row = await db.row<{ id: number; kind: string }>`
      SELECT id, kind FROM shoal_outbox WHERE resource = ${shareId} ORDER BY id LIMIT 1`;
    if (!row) return undefined;
    const run = () => runJob(row.id, jobs, tools, new AbortController().signal);
    await Promise.all(Array.from({ length: workers }, run));
    return row.kind;
  };

  return {
    db,
    caller({ projectId = randomUUID(), userId = 'u', roles = ['member', 'reader'], version = 99 } = {}) {
      const shared = {
        db,
        settings: settings as unknown as Settings,
        enforcer,
        reports,
        explanation: async () => null,
      };
      const links = { self: 'http://here/v2', bookmark: 'http://here' };
      return new RequestCtx(shared, { userId, projectId, roles } as never, {
        id: 'req-1',
        version,
        links,
        url: '/v2/',
      });
    },
    share: (over = {}) => addShare(db, over),
    async setQuota(projectId, resource, limit) {
      await db.run`
        INSERT INTO quotas (created_at, deleted, project_id, resource, hard_limit) VALUES (UTC_TIMESTAMP(), 0, ${projectId}, ${resource}, ${limit})`;
    },
    async rebuild(options, adapt = (made) => made) {
      driver = adapt(await fakeDriver(options));
    },
    async rebuildServers(options = {}, addresses) {
      withServers = await fakeDriver({ ...handlingServers, ...options });
      networks = testNetworks(db, addresses);
    },
    cleanUpServers: () => cleanUpServers(SERVERS_HOST, tools),
    continueServerMigrations: () => continueServerMigrations(SERVERS_HOST, tools),
    network: (projectId = randomUUID()) => addNetwork(db, projectId),
    openShares(directory, over) {
      opened = { data: directories(directory) };
      Object.assign(jobSettings, over);
    },
    backendOptions,
    step,
    async work(shareId, workers) {
      const done: string[] = [];
      for (;;) {
        const kind = await step(shareId, workers);
        if (kind === undefined) return done;
        done.push(kind);
      }
    },
    async usage(projectId) {
      const rows = await db.rows<{ resource: string; in_use: number; reserved: number }>`
        SELECT resource, CAST(SUM(in_use) AS SIGNED) AS in_use, CAST(SUM(reserved) AS SIGNED) AS reserved FROM quota_usages
        WHERE project_id = ${projectId} AND share_type_id IS NULL GROUP BY resource`;
      return Object.fromEntries(rows.map((row) => [row.resource, [row.in_use, row.reserved]]));
    },
    async messages(resourceId) {
      const rows = await db.rows<{ action_id: string; detail_id: string }>`
        SELECT action_id, detail_id FROM messages WHERE resource_id = ${resourceId} ORDER BY created_at`;
      return rows.map((row) => [row.action_id, row.detail_id]);
    },
    async close() {
      await db.close();
      await database.stop();
    },
  };
}

const serverOptions = {
  max_shares_per_share_server: -1,
  max_share_server_size: -1,
  delete_share_server_with_last_share: false,
  automatic_share_server_cleanup: true,
  unused_share_server_cleanup_interval: 10,
  server_migration_driver_continue_update_interval: 900,
};

const handlingServers = { driver_handles_share_servers: 'True' };

/** Shares as directories that are there for as long as they are attached. */
function directories(root: string): DataAccess {
  return {
    async attach(share) {
      const path = join(root, share.id);
      await mkdir(path, { recursive: true });
      return { kind: 'directory', path };
    },
    async detach() {},
  };
}

function fakeDriver(options: Record<string, string> = {}): Promise<Driver> {
  return createDriver('fake', {
    backend: 'fake',
    host: HOST,
    options: { fake_driver_pools: 'pool:1000:1000', ...options },
    stateDirectory: '/nonexistent',
    log() {},
  });
}

async function addShare(db: Db, over: Partial<NewShare>): Promise<WorldShare> {
  const share: NewShare = {
    id: randomUUID(),
    instanceId: randomUUID(),
    createdAt: now(),
    userId: 'u',
    projectId: randomUUID(),
    size: 1,
    name: null,
    description: null,
    protocol: 'NFS',
    isPublic: false,
    snapshotId: null,
    shareTypeId: null,
    availabilityZoneId: null,
    capabilities: {
      snapshot_support: true,
      create_share_from_snapshot_support: true,
      revert_to_snapshot_support: true,
      mount_snapshot_support: true,
      replication_type: null,
    },
    metadata: {},
    status: 'available',
    host: `${HOST}#pool`,
    ...over,
  };
  await withQuota(db, async (tx) => {
    const owner = { projectId: share.projectId, userId: share.userId, shareTypeId: share.shareTypeId };
    await insertShare(tx, share);
    await take(tx, owner, sharesQuota(share.size, share.capabilities.replication_type), settings.quota);
  });
  const { id, instanceId, projectId, userId } = share;
  return { id, instanceId, projectId, userId };
}
