/**
 * Shares with files are backed up and restored while the workers that do it are killed. Whatever ended well holds
 * every byte, by checksum; nothing is stuck.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeHere } from '../../drivers/ganesha/workbench.ts';
import { type Stack, startStack } from '../stack.ts';
import { PatientClient } from './client.ts';
import { remove } from './lifecycle.ts';
import { killAtRandom, type Victim } from './victims.ts';

const ROUNDS = 4;
const FILES = 3_000;
const KILL_EVERY_MS = 4_000;
const VICTIMS: readonly Victim[] = ['data', 'data', 'share', 'data', 'flush', 'data', 'scheduler', 'data'];

const projectId = 'bac0';

describeHere('backups while workers are killed', () => {
  const state = mkdtempSync(join(tmpdir(), 'shoal-kill-backups-'));
  let stack: Stack;
  let client: PatientClient;

  beforeAll(async () => {
    stack = await startStack('local', { state, set: ['DEFAULT.check_hash=true'] });
    client = new PatientClient(stack.base, projectId);
    const admin = new PatientClient(stack.base, projectId, 'admin,member,reader');
    await admin.ask('POST', '/types', {
      share_type: { name: 'default', extra_specs: { driver_handles_share_servers: 'False' } },
    });
  }, 90_000);

  afterAll(async () => {
    await stack?.stop();
    rmSync(state, { recursive: true, force: true });
  }, 60_000);

  test(`${ROUNDS} backups are made and restored whole`, async () => {
    const { id, files } = await makeShare();
    const over = new AbortController();
    const killing = killAtRandom(state, VICTIMS, KILL_EVERY_MS, over.signal);
    try {
      for (let round = 0; round < ROUNDS; round++) await backUpAndRestore(id, files(), round);
    } finally {
      over.abort();
    }
    const killed = await killing;
    console.log(
      `killed: ${Object.entries(killed)
        .map((each) => each.join(' '))
        .join(', ')}`,
    );
    await remove(client, `/shares/${id}`);
    expect(readdirSync(join(state, 'backups'))).toEqual([]);
    const quota = await client.ask('GET', `/quota-sets/${projectId}/detail`);
    for (const resource of ['shares', 'backups', 'backup_gigabytes'])
      expect(quota.body.quota_set[resource]).toMatchObject({ in_use: 0, reserved: 0 });
  }, 600_000);

  /** A share, and where its files are, behind the server's back: thousands of them over NFS would take minutes. */
  async function makeShare(): Promise<{ id: string; files: () => string }> {
    const made = await client.ask('POST', '/shares', {
      share: { share_proto: 'NFS', size: 1, name: 'kept' },
    });
    const id = made.body.share.id as string;
    await client.until(`/shares/${id}`, (a) => a.body?.share?.status === 'available', 'available');
    const locations = await client.ask('GET', `/shares/${id}/export_locations`);
    const instance = (locations.body.export_locations[0].path as string).split('/').at(-1)!;
    const places = ['volumes/shares', 'data/plain/shares'].map((path) =>
      join(state, 'state/ganesha', path, instance),
    );
    return { id, files: () => places.find(existsSync)! };
  }

  async function backUpAndRestore(share: string, files: string, round: number): Promise<void> {
    fill(files, round);
    const before = checksum(files);
    const backup = await begin(share);
    await client.until(
      `/share-backups/${backup}`,
      (a) => a.body?.share_backup?.status === 'available',
      'available',
    );
    spoil(files, round);
    expect(checksum(files)).not.toBe(before);
    await settled(share);
    // 400: an attempt whose answer was lost has begun it.
    await client.ask('POST', `/share-backups/${backup}/action`, { restore: null });
    await settled(share);
    expect({ round, checksum: checksum(files) }).toEqual({ round, checksum: before });
    await remove(client, `/share-backups/${backup}`);
  }

  async function begin(share: string): Promise<string> {
    const answer = await client.ask('POST', '/share-backups', { share_backup: { share_id: share } });
    if (answer.status === 202) return answer.body.share_backup.id as string;
    const list = await client.ask('GET', `/share-backups?share_id=${share}`);
    return list.body.share_backups[0].id as string;
  }

  async function settled(share: string): Promise<void> {
    await client.until(`/shares/${share}`, (a) => a.body?.share?.status === 'available', 'available');
  }
});

function fill(files: string, round: number): void {
  rmSync(join(files, `round-${round - 1}`), { recursive: true, force: true });
  const directory = join(files, `round-${round}`);
  mkdirSync(directory);
  for (let i = 0; i < FILES; i++) writeFileSync(join(directory, `f${i}`), randomBytes(4_096));
}

function spoil(files: string, round: number): void {
  rmSync(join(files, `round-${round}`), { recursive: true });
  writeFileSync(join(files, 'later'), 'goes');
}

/** Of all names and contents. */
function checksum(files: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(files, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .sort())
    hash.update(entry.slice(files.length)).update(readFileSync(entry));
  return hash.digest('hex');
}
