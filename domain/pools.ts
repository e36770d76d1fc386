/** The pools of back ends, as their services last reported them. */
import { type Capabilities, type ExtraSpecs, firstMismatch, schedulingSpecs } from './extraSpecs.ts';
import { type BackendReport, splitHost } from './services.ts';

export interface Pool {
  /** host@backend#pool */
  name: string;
  host: string;
  backend: string;
  pool: string;
  /** as reported, the back end's own values beneath the pool's; `timestamp` is the report's */
  capabilities: Capabilities;
}

/** The pools in a report. */
export function poolsIn({ host, at, stats }: BackendReport): Pool[] {
  const { pools, ...ofBackend } = stats;
  const parts = splitHost(host);
  return pools.map((ofPool) => {
    const pool = String(ofPool.pool_name);
    return {
      name: `${host}#${pool}`,
      host: parts.host,
      backend: parts.backend ?? '',
      pool,
      capabilities: { ...ofBackend, ...ofPool, timestamp: at },
    };
  });
}

/** Could the pool hold shares of a type with these extra specs, by what it can do? */
export function suitsType(pool: Pool, specs: ExtraSpecs): boolean {
  const { storage_protocol, ...asked } = schedulingSpecs(specs, { protocol: '', followsSource: false });
  // A share brings its protocol; a type only where it names one.
  if (specs.storage_protocol !== undefined) asked.storage_protocol = storage_protocol!;
  return firstMismatch(pool.capabilities, asked) === null;
}
