/**
 * The options of a back end with `share_driver = ganesha`, beside those that every back end has
 * (share_backend_name, reserved_share_percentage and its kin, filter_function, goodness_function).
 *
 *   ganesha_service_address = 127.0.0.1   where the NFS server listens
 *   ganesha_service_port = 0              its port; 0 takes a free one and keeps it
 *   ganesha_export_address =              the address in export locations; the service address where empty
 *   ganesha_data_directory =              where the shares' data is kept; the state directory where empty
 *   ganesha_data_size = 20                GiB of the file that holds all shares; sparse; can be raised later
 *   ganesha_storage = auto                btrfs (sizes are enforced), plain (directories: they aren't), or
 *                                         auto: btrfs where it works
 *   ganesha_pool_name = ganesha           the part of the host after #
 *   ganesha_more_pools =                  names of pools beside it, each with a file of its own of that size
 *   replication_domain =                  where set, pools hold replicas of each other's shares (readable); no
 *                                         other back end may be of the same domain
 *   ganesha_grace_period = 0              seconds after a restart in which clients reclaim their locks and
 *                                         nobody else gets a file opened; 0: no such time, and locks that a
 *                                         client doesn't claim at once may go to another
 *   max_over_subscription_ratio =         where set, the pool is thin: it may promise so many times its size
 *
 * With driver_handles_share_servers = true each share server is an NFS server of its own, on the address that the
 * network plug-in gives it, and on NFS' own port where that can be had. The options of address and port count for
 * nothing then.
 */
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { DriverSettings } from '../driver.ts';
import { type CommonReport, type Options, readCommon, readOptions } from '../options.ts';

export const GiB = 1024 ** 3;

export interface GaneshaOptions {
  address: string;
  port: number;
  /** as it stands in export locations */
  exportHost: string;
  dataDirectory: string;
  /** bytes */
  dataSize: number;
  storage: 'auto' | 'btrfs' | 'plain';
  /** the first is the back end's own */
  pools: readonly string[];
  /** whether its pools hold replicas of each other's shares */
  replicates: boolean;
  gracePeriod: number;
  thin: boolean;
  common: CommonReport;
}

export function readGaneshaOptions(settings: DriverSettings): GaneshaOptions {
  const options = readOptions(settings);
  const common = readCommon(settings);
  const address = options.text('ganesha_service_address', '127.0.0.1');
  if (isIP(address) === 0) options.refuse('ganesha_service_address', 'an IP address is expected');
  const exported = options.text('ganesha_export_address', address);
  if (!/^[0-9A-Za-z.:-]+$/.test(exported)) options.refuse('ganesha_export_address', 'a host is expected');
  if (exported === '0.0.0.0' || exported === '::')
    options.refuse('ganesha_export_address', 'is needed where the server listens on every address');
  const storage = options.text('ganesha_storage', 'auto');
  if (storage !== 'auto' && storage !== 'btrfs' && storage !== 'plain')
    return options.refuse('ganesha_storage', 'auto, btrfs or plain is expected');
  const pools = readPools(options);
  return {
    address,
    port: options.integer('ganesha_service_port', 0, 0, 65_535),
    exportHost: isIP(exported) === 6 ? `[${exported}]` : exported,
    dataDirectory: options.text('ganesha_data_directory', join(settings.stateDirectory, 'data')),
    dataSize: options.integer('ganesha_data_size', 20, 1, 1_000_000) * GiB,
    storage,
    pools,
    replicates: common.replicationDomain !== null && !common.handlesShareServers,
    gracePeriod: options.integer('ganesha_grace_period', 0, 0, 120),
    thin: (common.pool.max_over_subscription_ratio ?? 0) > 0,
    common,
  };
}

function readPools(options: Options): string[] {
  const first = options.text('ganesha_pool_name', 'ganesha');
  const more = options
    .text('ganesha_more_pools', '')
    .split(',')
    .map((name) => name.trim());
  const pools = [first, ...more.filter(Boolean)];
  for (const [index, pool] of pools.entries()) {
    const option = index === 0 ? 'ganesha_pool_name' : 'ganesha_more_pools';
    if (!/^[A-Za-z0-9_][\w.-]*$/.test(pool)) options.refuse(option, 'letters, digits, _ . - are allowed');
    if (pools.indexOf(pool) !== index) options.refuse(option, `there is a pool ${pool} already`);
  }
  return pools;
}
