/** An administrator's `only_host` hint: this pool and no other. */
import type { Filter } from './filter.ts';

export const onlyHost: Filter = {
  name: 'OnlyHostFilter',
  detail: 'noValidHost',
  check(pool, { hints }) {
    const only = hints?.onlyHost ?? null;
    if (only === null || pool.host === only) return null;
    return { reason: 'another host was asked for', numbers: { host: pool.host, only_host: only } };
  },
};
