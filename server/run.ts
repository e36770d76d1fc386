/**
 * The `run` command, for whoever sees Shoal for the first time: the service on this machine, with a share that has
 * a file in it, and what to try next.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiClient } from './local/apiClient.ts';
import { takeFirstSteps } from './local/firstSteps.ts';
import { runInForeground, say } from './local/foreground.ts';
import { mountNfs } from './local/nfs/client.ts';
import { freePort, isPortFree, readPort } from './local/ports.ts';
import { local, tenants } from './local/profiles/local.ts';
import { type Stack, startStack } from './local/stack.ts';
import { commandLine } from './process/arguments.ts';
import { keepPort, keptPort } from './process/keptPort.ts';

const usage = `Usage: node server/run.ts [--port PORT] [--state DIR] [--tenants]

Starts the service on this machine, as root, makes a share and writes a file to it over NFS. Ctrl-C ends it.

  --port PORT   where the API listens, 0 for a free one; when not said, the port of the last time, 8786 at first
  --tenants     with a second pool, and with a back end that gives each tenant's network a server of its own
  --state DIR   data, logs, shoal.conf and pids.json; .shoal when not said
`;

const options = {
  state: { type: 'string', default: '.shoal' },
  port: { type: 'string' },
  tenants: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
const args = commandLine(
  usage,
  () => parseArgs({ options }),
  ({ state, port, tenants: withTenants }) => ({
    state,
    withTenants,
    port: port === undefined ? undefined : readPort(port),
  }),
);
const portFile = join(args.state, 'api-port');
/** noauth believes who one says one is: user, project, roles. */
const token = 'admin:ad01:admin,member,reader';

await runInForeground(async (signal) => {
  const wanted = args.port ?? keptPort(portFile) ?? 8786;
  const port = (await isPortFree(wanted)) ? wanted : await freePort();
  if (port !== wanted) say(`port ${wanted} is taken, so the API gets ${port}`);
  return startStack({
    profile: args.withTenants ? tenants : local,
    port,
    stateDirectory: args.state,
    signal,
    say,
  });
}, greet);

async function greet(stack: Stack): Promise<void> {
  // What points at the endpoint goes on doing so next time.
  if (args.port === undefined) keepPort(portFile, Number(new URL(stack.url).port));
  const tools = {
    api: apiClient(stack.url, token),
    mount: (location: string, port: number) => mountNfs(location, { port }),
    say,
  };
  const { exportLocation, port } = await takeFirstSteps(tools);
  const tenant = args.withTenants
    ? await takeFirstSteps(tools, { type: 'tenants', share: 'demo-tenant', network: 'demo' })
    : null;
  const mount = tenant
    ? `\n          sudo mount -t nfs -o vers=4.1,port=${tenant.port} ${tenant.exportLocation} /mnt   (in the share network demo)`
    : '';
  console.log(`
shoal: ready on ${stack.url}

  Token   ${token}
  Mount   sudo mount -t nfs -o vers=4.1,port=${port} ${exportLocation} /mnt${mount}

  Try next, in another terminal (pip install python-openstackclient python-manilaclient):

    export OS_AUTH_TYPE=admin_token OS_ENDPOINT=${stack.url} OS_TOKEN=${token}
    openstack share list
    openstack share create NFS 1 --name mine --wait
    openstack share access create mine ip 127.0.0.1

  Ctrl-C ends it; the shares are there again next time. Logs and data: ${stack.stateDirectory}
`);
}
