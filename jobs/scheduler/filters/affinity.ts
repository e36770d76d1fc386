/** `same_host` hints: on the back end of every share named. Pools of one back end are one place. */
import { backendOf } from '#domain/services.ts';
import type { Filter } from './filter.ts';

export const affinity: Filter = {
  name: 'AffinityFilter',
  detail: 'noValidHost',
  check(pool, { hints }) {
    const here = backendOf(pool.host);
    const elsewhere = hints?.sameHost?.find((host) => backendOf(host) !== here);
    if (elsewhere === undefined) return null;
    return {
      reason: 'a share to be with is on another back end',
      numbers: { host: here, same_host: backendOf(elsewhere) },
    };
  },
};
