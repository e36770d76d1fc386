/** What names stand for in filter and goodness functions, and the functions compiled once each. */
import { compileExpression, type Expression, type Scope } from '#domain/expressions/expression.ts';
import type { Capacity, PoolState } from './hostState.ts';
import type { ScheduleRequest } from './request.ts';

/** Share properties that expressions may name whether or not the request has them. */
const SHARE_PROPERTIES = [
  'id',
  'share_id',
  'user_id',
  'project_id',
  'status',
  'host',
  'is_public',
  'snapshot_id',
  'snapshot_support',
  'share_type_id',
  'share_network_id',
  'share_server_id',
  'availability_zone_id',
  'replica_state',
  'replication_type',
  'metadata',
];
const NO_PROPERTIES = Object.fromEntries(SHARE_PROPERTIES.map((name) => [name, null]));

const MAX_COMPILED = 1000;
const compiled = new Map<string, Expression>();

/** The expression, parsed at most once while it is in use. Throws ExpressionError. */
export function compile(source: string): Expression {
  const known = compiled.get(source);
  if (known) return known;
  const expression = compileExpression(source);
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(source, expression);
  return expression;
}

function quantity(capacity: Capacity): number | string {
  return capacity === 'infinite' ? Infinity : capacity;
}

/** `share`, `stats` (the pool as of now), `capabilities` (as reported), `extra` (the type's specs) and `qos`. */
export function expressionScope(pool: PoolState, request: ScheduleRequest): Scope {
  return {
    share: { ...NO_PROPERTIES, size: request.size, share_proto: request.protocol, ...request.share },
    stats: {
      ...pool.capabilities,
      host: pool.host,
      updated: pool.reportedAt,
      total_capacity_gb: quantity(pool.totalCapacity),
      free_capacity_gb: quantity(pool.freeCapacity),
      allocated_capacity_gb: pool.allocatedCapacity,
      provisioned_capacity_gb: pool.provisionedCapacity,
      reserved_percentage: pool.reservedPercentage,
      reserved_snapshot_percentage: pool.reservedSnapshotPercentage,
      reserved_share_extend_percentage: pool.reservedExtendPercentage,
    },
    capabilities: pool.capabilities,
    extra: request.shareType?.extraSpecs ?? {},
    qos: request.qos ?? {},
  };
}

/** The text of a pool's function; null when it has none. */
export function functionOf(pool: PoolState, name: 'filter_function' | 'goodness_function'): string | null {
  const source = pool.capabilities[name];
  return source === undefined || source === null || source === '' ? null : String(source);
}
