/** `different_host` hints: not on the back end of any share named. Pools of one back end are one place. */
import { backendOf } from '#domain/services.ts';
import type { Filter } from './filter.ts';

export const antiAffinity: Filter = {
  name: 'AntiAffinityFilter',
  detail: 'noValidHost',
  check(pool, { hints }) {
    const here = backendOf(pool.host);
    if (!hints?.differentHost?.some((host) => backendOf(host) === here)) return null;
    return {
      reason: 'a share to be apart from is on this back end',
      numbers: { host: here, different_host: here },
    };
  },
};
