/**
 * Which pools a request may consider at all, before any filter that an operator can configure: those of
 * services that work, and for some requests one pool only.
 */
import type { Filter } from './filters/filter.ts';

const serviceState: Filter = {
  name: 'ServiceState',
  detail: 'shareBackendNotReadyYet',
  check(pool, { hints, isAdmin }) {
    if (!pool.up) return { reason: 'its service is down', numbers: {} };
    const isMeant = isAdmin === true && typeof hints?.onlyHost === 'string';
    return pool.disabled && !isMeant ? { reason: 'its service is disabled', numbers: {} } : null;
  },
};

const ignoredHosts: Filter = {
  name: 'IgnoredHosts',
  detail: 'filterIgnore',
  check(pool, { ignoreHosts }) {
    if (!ignoreHosts?.includes(pool.host)) return null;
    return { reason: 'it is not to be tried (again)', numbers: { host: pool.host } };
  },
};

const givenHost: Filter = {
  name: 'GivenHost',
  detail: 'noValidHost',
  check(pool, { kind, currentHost, groupHost }) {
    const given = (kind === 'extend' ? currentHost : groupHost) ?? null;
    if (given === null || pool.host === given) return null;
    const why = kind === 'extend' ? 'the share is in another pool' : 'the share group is in another pool';
    return { reason: why, numbers: { host: pool.host, only: given } };
  },
};

export const standingFilters: readonly Filter[] = [serviceState, ignoredHosts, givenHost];
