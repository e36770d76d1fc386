/** What is measured, and what Shoal is to reach: requests per CPU second of the API's processes. */
import { createCall, SHARES } from './prepare.ts';
import { NETWORKS, RULES, SNAPSHOTS } from './prepareLists.ts';
import { type Call, projects } from './target.ts';

export interface Measure {
  name: string;
  /** what the reference reached when it was measured once, on a machine like this; requests per CPU second */
  recorded: number | null;
  /** how many times as much Shoal is to reach */
  goal: number;
  /** most SQL statements that it may take; null: not counted */
  statements: number | null;
  status: number;
  /** no more requests than these in one measurement */
  most: number;
  /** requests to send in turn, over the shares of the project that is read */
  calls(shares: readonly string[]): readonly Call[];
}

const READ_STATEMENTS = 3;
const CREATE_STATEMENTS = 15;
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

/** GET of one path. */
const read = (path: string) => () => [{ path }];
/** What every read has in common. */
const aRead = { statements: READ_STATEMENTS, status: 200, most: ANY_NUMBER };

export const measures: readonly Measure[] = [
  {
    ...aRead,
    name: 'version document',
    recorded: 938,
    goal: 20,
    statements: null,
    status: 300,
    calls: read('/'),
  },
  {
    ...aRead,
    name: 'show',
    recorded: 73,
    goal: 40,
    calls: (shares) => shares.map((id) => ({ path: `/v2/shares/${id}` })),
  },
  {
    ...aRead,
    name: 'list 50 in detail',
    recorded: 19,
    goal: 60,
    calls: read('/v2/shares/detail?limit=50'),
  },
  {
    ...aRead,
    name: `list ${SHARES} in detail`,
    recorded: 3,
    goal: 60,
    calls: read(`/v2/shares/detail?limit=${SHARES}`),
  },
  { ...aRead, name: 'list types', recorded: 136, goal: 30, calls: read('/v2/types') },
  // Measured beside the reference only: no figures of it were recorded before.
  {
    ...aRead,
    name: `list ${SNAPSHOTS} snapshots in detail`,
    recorded: null,
    goal: 40,
    calls: read('/v2/snapshots/detail'),
  },
  {
    ...aRead,
    name: `list ${RULES} access rules`,
    recorded: null,
    goal: 40,
    calls: (shares) => [{ path: `/v2/share-access-rules?share_id=${shares[1]}` }],
  },
  {
    ...aRead,
    name: `list ${NETWORKS} share networks in detail`,
    recorded: null,
    goal: 40,
    calls: read('/v2/share-networks/detail'),
  },
  {
    name: 'refused create',
    recorded: 173,
    goal: 60,
    statements: CREATE_STATEMENTS,
    status: 400,
    most: ANY_NUMBER,
    calls: () => [refused()],
  },
  {
    name: 'create',
    recorded: 14.8,
    goal: 20,
    statements: CREATE_STATEMENTS,
    status: 200,
    most: 600,
    calls: () => [createCall(projects.creates, 'created')],
  },
];

/** Clients that create shares and wait for them, and within how many milliseconds half of them are to have theirs. */
export const provisioning = { clients: 8, goal: 150 };

/** Of every process: seconds until it serves, and MB of memory that it holds. */
export const processGoals = { ready: 3, memory: 150 };

function refused(): Call {
  return { ...createCall(projects.creates, ''), body: { share: { share_proto: 'NFS', size: 0 } } };
}
