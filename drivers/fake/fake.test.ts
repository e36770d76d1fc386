import { describeDriver, failure, someRule, someShare, someSnapshot, soon } from '../conformance.ts';
import type { Driver, DriverSettings } from '../driver.ts';
import { createDriver } from '../index.ts';

const settings = (options: Record<string, string> = {}, backend = 'alpha'): DriverSettings => ({
  backend,
  host: `refhost@${backend}`,
  options,
  stateDirectory: '/nonexistent',
  log() {},
});

const fake = (options?: Record<string, string>, backend?: string): Promise<Driver> =>
  createDriver('fake', settings(options, backend));

const pools = { fake_driver_pools: 'one:100:100,two:100:100' };
describeDriver('fake', async () => ({
  driver: await fake({ fake_driver_used_gb: '1.5', ...pools }),
  again: () => fake({ fake_driver_used_gb: '0', ...pools }),
  overfill: async () => {},
  close: async () => {},
}));

describe('with share servers', () => {
  let latest = 9;
  const options = { driver_handles_share_servers: 'True' };
  describeDriver('fake', async () => ({
    driver: await fake(options, 'gamma'),
    again: () => fake(options, 'gamma'),
    address: () => `10.254.0.${++latest}`,
    close: async () => {},
  }));
});

describe('the fake back end', () => {
  test('reports as the recorded one did', async () => {
    const alpha = await (await fake({ replication_domain: 'rd1' })).stats(soon());
    expect(alpha).toMatchObject({
      share_backend_name: 'alpha',
      driver_handles_share_servers: false,
      storage_protocol: 'NFS_CIFS',
      replication_type: 'readable',
      replication_domain: 'rd1',
      encryption_support: ['share_server'],
    });
    expect(alpha.pools).toEqual([
      {
        pool_name: 'fake_pool_for_alpha',
        total_capacity_gb: 1230,
        free_capacity_gb: 1210,
        reserved_percentage: 0,
        reserved_snapshot_percentage: 0,
        reserved_share_extend_percentage: 0,
      },
    ]);
    const gamma = await (await fake({ driver_handles_share_servers: 'True' }, 'gamma')).stats(soon());
    expect(gamma).toMatchObject({
      driver_handles_share_servers: true,
      replication_type: null,
      replication_domain: null,
    });
  });

  test('reports the pools and capabilities of its options', async () => {
    const driver = await fake({
      share_backend_name: 'tier',
      fake_driver_pools: 'fast:100:60, slow:unknown:infinite',
      fake_driver_capabilities: '{"dedupe": true}',
      fake_driver_pool_capabilities: '{"thin_provisioning": true}',
      reserved_share_percentage: '10',
      reserved_share_extend_percentage: '5',
      max_over_subscription_ratio: '2.5',
      filter_function: 'share.size < 10',
    });
    const stats = await driver.stats(soon());
    expect(stats).toMatchObject({
      share_backend_name: 'tier',
      dedupe: true,
      filter_function: 'share.size < 10',
    });
    expect(stats.pools).toMatchObject([
      {
        pool_name: 'fast',
        total_capacity_gb: 100,
        free_capacity_gb: 60,
        reserved_percentage: 10,
        reserved_snapshot_percentage: 10,
        reserved_share_extend_percentage: 5,
        max_over_subscription_ratio: 2.5,
        thin_provisioning: true,
      },
      { pool_name: 'slow', total_capacity_gb: 'unknown', free_capacity_gb: 'infinite' },
    ]);
  });

  test('names export locations by share and instance, one of three for admins', async () => {
    const share = someShare('fake_pool_for_alpha', {
      id: '1a69b7d1-2de6-432e-b256-1a7f90d3c395',
      shareId: 'ab0ac441-3a66-4a1d-8772-08895e997841',
    });
    const name =
      '/path/to/fake/share/share_ab0ac441_3a66_4a1d_8772_08895e997841_1a69b7d1_2de6_432e_b256_1a7f90d3c395';
    const driver = await fake();
    expect(await driver.shares.create(share, soon())).toEqual([
      { path: `10.0.0.10:${name}`, isAdminOnly: false, metadata: { preferred: 'True' } },
      { path: `10.0.0.20:${name}`, isAdminOnly: false, metadata: { preferred: 'False' } },
      { path: `11.0.0.11:${name}`, isAdminOnly: true, metadata: { preferred: 'False' } },
    ]);
    const onServer = await driver.shares.create(
      {
        ...share,
        server: {
          id: 'e4a1',
          identifier: null,
          projectId: 'p1',
          networks: [],
          securityServices: [],
          details: {
            service_ip: '11.0.0.10',
            subnet_allocations:
              '[{"primary_public_ip": "10.254.0.10", "secondary_public_ip": "10.254.0.11"}]',
          },
        },
      },
      soon(),
    );
    expect(onServer.map((location) => location.path.split(':')[0])).toEqual([
      '10.254.0.10',
      '10.254.0.11',
      '11.0.0.10',
    ]);
  });

  test('makes the details of a share server from its ports, and knows the servers that are called by an id', async () => {
    const { servers } = await fake({ driver_handles_share_servers: 'True' }, 'gamma');
    const id = '7df25541-d6ec-4429-aa0a-66d919a66f60';
    const port = (ipAddress: string) => ({ id: ipAddress, ipAddress, macAddress: null });
    const network = {
      subnetId: 's1',
      neutronNetId: null,
      neutronSubnetId: null,
      networkType: null,
      segmentationId: null,
      cidr: '10.254.0.0/24',
      gateway: '10.254.0.1',
      mtu: 1500,
      ipVersion: 4,
      metadata: {},
      ports: [port('10.254.0.10'), port('10.254.0.11')],
      adminPorts: [port('11.0.0.10')],
    };
    const server = {
      id,
      projectId: 'p1',
      identifier: null,
      details: {},
      networks: [network],
      securityServices: [],
    };
    const details = {
      service_ip: '11.0.0.10',
      username: 'fake_username',
      server_id: id,
      subnet_allocations: '[{"primary_public_ip": "10.254.0.10", "secondary_public_ip": "10.254.0.11"}]',
    };
    expect(await servers!.setup(server, soon())).toEqual(details);
    expect(await servers!.manage!(`share_${id}`, {}, server, soon())).toMatchObject({
      identifier: `share_${id}`,
    });
    expect(await failure(servers!.manage!('nothing', {}, server, soon()))).toBe('notFound');
    const destination = { ...server, details };
    const share = someShare('p', { server });
    const moved = await servers!.migration!.complete(server, destination, [share], soon());
    expect(moved.get(share.id)![0]!.path).toMatch(/^10\.254\.0\.10:/);
  });

  test('opens CIFS shares to users, not to addresses', async () => {
    const share = someShare('p', { protocol: 'CIFS' });
    const rules = [someRule('user', 'alice'), someRule('ip', '10.0.0.0/8')];
    const results = await (await fake()).access.sync(share, rules, soon());
    expect(rules.map((rule) => results.get(rule.id)!.state)).toEqual(['active', 'error']);
  });

  test('is slow where told to, and can be interrupted', async () => {
    const driver = await fake({ fake_driver_delays: 'create_share:0.05, extend_share:60' });
    const before = performance.now();
    await driver.shares.create(someShare('p'), soon());
    expect(performance.now() - before).toBeGreaterThan(45);
    expect(await failure(driver.shares.extend(someShare('p'), 2, AbortSignal.timeout(20)))).toBe('timeout');
  });

  test('fails where told to', async () => {
    const driver = await fake({
      fake_driver_failures: 'create_share:once/noSpace,extend_share:always,revert_to_snapshot:unsupported',
    });
    const share = someShare('p');
    const outcomes = [];
    for (const call of [
      () => driver.shares.create(share, soon()),
      () => driver.shares.create(share, soon()),
      () => driver.shares.extend(share, 2, soon()),
      () => driver.shares.extend(share, 2, soon()),
      () => driver.revert!.toSnapshot(share, someSnapshot(share), [], soon()),
    ])
      outcomes.push(await failure(call()));
    expect(outcomes).toEqual(['noSpace', 'none', 'failed', 'failed', 'unsupported']);
  });

  test.each([
    ['fake_driver_delays', 'create_share'],
    ['fake_driver_delays', 'make_share:1'],
    ['fake_driver_delays', 'create_share:-1'],
    ['fake_driver_failures', 'create_share:sometimes'],
    ['fake_driver_failures', 'create_share:always/boom'],
    ['fake_driver_pools', 'a#b:1:1'],
    ['fake_driver_pools', 'a:lots'],
    ['fake_driver_capabilities', '[1]'],
    ['reserved_share_percentage', '101'],
    ['driver_handles_share_servers', 'perhaps'],
  ])('refuses %s = %s and says where', async (option, value) => {
    await expect(fake({ [option]: value })).rejects.toThrow(`[alpha] ${option} = ${value}: `);
  });

  test('an unknown driver is refused by name', async () => {
    await expect(createDriver('constructor', settings())).rejects.toThrow('known are fake, ganesha');
  });
});
