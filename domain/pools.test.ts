import { poolsIn, suitsType } from './pools.ts';

const report = {
  host: 'h@alpha',
  at: '2026-01-31T12:00:00.000000',
  stats: {
    driver_handles_share_servers: false,
    storage_protocol: 'NFS_CIFS',
    dedupe: false,
    pools: [{ pool_name: 'one', dedupe: true }, { pool_name: 'two' }],
  },
};
const [one, two] = poolsIn(report);

test('a pool’s own values cover those of its back end', () => {
  expect(one).toMatchObject({
    name: 'h@alpha#one',
    host: 'h',
    backend: 'alpha',
    pool: 'one',
    capabilities: { dedupe: true },
  });
  expect(two).toMatchObject({
    name: 'h@alpha#two',
    capabilities: { dedupe: false, pool_name: 'two', timestamp: report.at },
  });
  expect(two!.capabilities).not.toHaveProperty('pools');
});

test.each([
  [{ driver_handles_share_servers: 'False' }, true],
  [{ driver_handles_share_servers: 'True' }, false],
  [{ dedupe: '<is> True' }, true],
  [{ storage_protocol: '<in> CIFS' }, true],
  [{ storage_protocol: '<in> CEPHFS' }, false],
  [{ availability_zones: 'elsewhere', 'provisioning:max_share_size': '1' }, true],
])('a pool and a type with %j: %j', (specs, suits) => expect(suitsType(one!, specs)).toBe(suits));
