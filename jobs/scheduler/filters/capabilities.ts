/** The share type's extra specs against what the pool reports. */
import { firstMismatch } from '#domain/extraSpecs.ts';
import { specsOf } from '../request.ts';
import type { Filter } from './filter.ts';

export const capabilities: Filter = {
  name: 'CapabilitiesFilter',
  detail: 'filterCapabilities',
  check(pool, request) {
    const mismatch = firstMismatch(pool.capabilities, specsOf(request));
    if (mismatch === null) return null;
    const { key, asks, reports } = mismatch;
    return { reason: `extra spec ${key} is not met`, numbers: { extra_spec: key, asks, reports } };
  },
};
