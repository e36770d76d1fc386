/** Services and what their back ends report. */

/** A back end's capability report, as its worker last sent it. */
export interface BackendReport {
  /** `host@backend` */
  host: string;
  /** ISO time of the report */
  at: string;
  /** BackendStats of drivers/driver.ts: pools, capabilities, by the field's names */
  stats: { pools: Record<string, unknown>[]; [capability: string]: unknown };
}

/** A service is up when it was heard of within `service_down_time` seconds. */
export function isUp(
  service: { updated_at: string | null; created_at: string | null },
  downTime: number,
  at = Date.now(),
): boolean {
  const heard = service.updated_at ?? service.created_at;
  return heard !== null && (at - Date.parse(`${heard}Z`)) / 1000 <= downTime;
}

/** `host@backend#pool` in its parts; the parts that aren't there are null. */
export function splitHost(host: string): { host: string; backend: string | null; pool: string | null } {
  const [rest = '', pool = null] = host.split('#');
  const [name = '', backend = null] = rest.split('@');
  return { host: name, backend, pool };
}

/** `host@backend` of a full host. */
export function backendOf(host: string): string {
  return host.split('#')[0]!;
}

/** The queue of the data workers. */
export const DATA_QUEUE = 'data';

/** The queue of a back end's worker; `host` may be a pool's full name. Queue names hold no colon. */
export function shareQueue(host: string): string {
  return `share.${backendOf(host).replaceAll(':', '_')}`;
}
