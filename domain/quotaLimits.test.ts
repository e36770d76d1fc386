import { limitProblem, type QuotaScope, readLimits, resourcesOf } from './quotaLimits.ts';
import { quotaResources } from './quotas.ts';

const project: QuotaScope = { projectId: 'p', userId: null, shareTypeId: null };
const type: QuotaScope = { ...project, shareTypeId: 't' };

describe('limits as clients send them', () => {
  test('numbers and texts, null left out, fractions cut', () => {
    const given = {
      shares: 5,
      gigabytes: ' 12 ',
      snapshots: '-1',
      backups: null,
      share_groups: 1.9,
      force: true,
      tenant_id: 'x',
    };
    expect(readLimits(given, project)).toEqual({ shares: 5, gigabytes: 12, snapshots: -1, share_groups: 1 });
  });

  test.each([-2, 2 ** 31, '9999999999', Number.NaN])('%j is refused, naming the quota', (limit) => {
    expect(() => readLimits({ shares: limit }, project)).toThrow(/shares/);
  });

  test('nothing to set is refused', () => {
    for (const given of [{}, { force: true }, { shares: null }])
      expect(() => readLimits(given, project)).toThrow(/at least one/);
  });

  test('a share type has no limits of what has no type', () => {
    expect(quotaResources.filter((resource) => !resourcesOf(type).includes(resource))).toEqual([
      'share_networks',
      'share_groups',
      'share_group_snapshots',
    ]);
    expect(resourcesOf(project)).toEqual(quotaResources);
    expect(() => readLimits({ shares: 1, share_networks: 1 }, type)).toThrow(/share_networks/);
    expect(readLimits({ shares: 1, share_networks: null }, type)).toEqual({ shares: 1 });
  });
});

describe('a limit beside others', () => {
  const free = { used: 0, projectLimit: null, largestUserLimit: null };

  test.each([
    ['at what is used', 5, { ...free, used: 5 }, true],
    ['below what is used', 4, { ...free, used: 5 }, false],
    ['unlimited, whatever is used', -1, { ...free, used: 5 }, true],
    ['zero', 0, free, true],
    ['at the project’s', 7, { ...free, projectLimit: 7 }, true],
    ['above the project’s', 8, { ...free, projectLimit: 7 }, false],
    ['unlimited within the project’s', -1, { ...free, projectLimit: 7 }, false],
    ['any under an unlimited project', 8, { ...free, projectLimit: -1 }, true],
    ['unlimited under an unlimited project', -1, { ...free, projectLimit: -1 }, true],
    ['of a project, at its users’', 7, { ...free, largestUserLimit: 7 }, true],
    ['of a project, below its users’', 6, { ...free, largestUserLimit: 7 }, false],
    ['of a project, none, above its users’', -1, { ...free, largestUserLimit: 7 }, true],
    ['of a project whose users are unlimited', 6, { ...free, largestUserLimit: -1 }, true],
  ])('%s (%j)', (_what, limit, context, fine) => {
    expect(limitProblem(limit, context) === null).toBe(fine);
  });
});
