/** Things for bad requests to be about: a share with a rule and a snapshot, and what belongs to them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from './requests.ts';

const PROJECT = 'bad1';
const DEADLINE_MS = 30_000;

type Json = Record<string, unknown>;

/** What fits fields and parameters of these names, whatever there is. */
const words = {
  share_proto: ['NFS', 'nfs', 'CIFS'],
  availability_zone: ['nova'],
  host: ['refhost@alpha', 'refhost@beta#fake_pool_for_beta'],
  binary: ['manila-share'],
  access_type: ['ip', 'user'],
  access_to: ['10.0.0.2', '10.1.0.0/16', 'fd00::1'],
  access_level: ['rw', 'ro'],
  key: ['purpose', 'k', 'snapshot_support'],
  metadata: ["{'purpose': 'x'}", '{"k": "v"}'],
  sort_key: ['created_at', 'display_name'],
  sort_dir: ['asc'],
  limit: ['2'],
  offset: ['1'],
  all_tenants: ['1'],
  with_count: ['True'],
};

export class Settlement {
  readonly #base: URL;
  #world: World | null = null;

  constructor(base: URL) {
    this.#base = base;
  }

  /** What there is now, whole. */
  async world(): Promise<World> {
    this.#world ??= await this.#settle();
    return this.#world;
  }

  /** Things were changed, or may have been: the next world is a new one. */
  abandon(): void {
    this.#world = null;
  }

  /** Quotas may have been lowered, services disabled, whatever an admin can do. */
  async #makeUsable(): Promise<void> {
    const [unlimited, limits] = [
      -1,
      ['shares', 'gigabytes', 'snapshots', 'snapshot_gigabytes', 'per_share_gigabytes'],
    ];
    const quota_set = { ...Object.fromEntries(limits.map((name) => [name, unlimited])), force: true };
    await this.#call('DELETE', `/quota-sets/${PROJECT}?user_id=u1`);
    await this.#call('PUT', `/quota-sets/${PROJECT}`, { quota_set });
    const { services } = await this.#call<{ services: Json[] }>('GET', '/services?status=disabled');
    for (const { host, binary } of services) await this.#call('PUT', '/services/enable', { host, binary });
  }

  /** A new share type, nobody has touched it yet. */
  async #type(more: Record<string, string>): Promise<string> {
    const extra_specs = {
      ...{ driver_handles_share_servers: 'False', snapshot_support: 'True', mount_snapshot_support: 'True' },
      ...{ create_share_from_snapshot_support: 'True', revert_to_snapshot_support: 'True' },
      ...more,
    };
    const name = `settled ${randomUUID()}`;
    const { share_type } = await this.#call<{ share_type: Json }>('POST', '/types', {
      share_type: { name, extra_specs },
    });
    return String(share_type.id);
  }

  async #settle(): Promise<World> {
    await this.#makeUsable();
    const type = await this.#type({});
    const metadata = { purpose: 'to be spoken of' };
    const id = await this.#share({ share_type: type, name: 'there', metadata });
    const bare = await this.#share({ share_type: type });
    await this.#available(`/shares/${id}`, 'share');
    await this.#available(`/shares/${bare}`, 'share');
    const allow_access = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw', metadata };
    const { access } = await this.#call<{ access: Json }>('POST', `/shares/${id}/action`, { allow_access });
    const ofShare = { snapshot: { share_id: id, metadata } };
    const { snapshot } = await this.#call<{ snapshot: Json }>('POST', '/snapshots', ofShare);
    await this.#available(`/snapshots/${snapshot.id}`, 'snapshot');
    // A share that finds no place leaves a message.
    await this.#share({ share_type: await this.#type({ share_backend_name: 'nowhere' }) });

    const ofSnapshot = `/snapshots/${snapshot.id}/export-locations`;
    const named: Record<string, string[]> = {
      shares: [id, bare],
      'share-access-rules': [String(access.id)],
      snapshots: [String(snapshot.id)],
      share_instances: await this.#ids(`/shares/${id}/instances`, 'share_instances'),
      export_locations: await this.#ids(`/shares/${id}/export_locations`, 'export_locations'),
      'snapshot-instances': await this.#ids('/snapshot-instances', 'snapshot_instances'),
      'export-locations': await this.#ids(ofSnapshot, 'share_snapshot_export_locations'),
      types: [type],
      messages: await this.#ids('/messages', 'messages'),
      extra_specs: ['snapshot_support', 'k'],
      metadata: ['purpose', 'k'],
      services: ['enable', 'disable'],
      'quota-sets': ['bad2'],
      'quota-class-sets': ['default', 'other'],
    };
    for (const [collection, ids] of Object.entries(named)) if (ids.length === 0) delete named[collection];
    const fitting = {
      ...words,
      share_id: [id],
      snapshot_id: [String(snapshot.id)],
      access_id: [String(access.id)],
      share_type: [type, 'default'],
      share_type_id: [type],
      marker: [id],
      project: [randomUUID()],
    };
    return { project: PROJECT, named, fitting, ids: Object.values(named).flat() };
  }

  async #share(more: Json): Promise<string> {
    const share = { share_proto: 'NFS', size: 1, ...more };
    return String((await this.#call<{ share: Json }>('POST', '/shares', { share })).share.id);
  }

  async #ids(path: string, key: string): Promise<string[]> {
    const list = (await this.#call<Record<string, Json[]>>('GET', path))[key];
    if (!list) throw new Error(`${path} has no ${key}`);
    return list.map(({ id }) => String(id));
  }

  async #available(path: string, key: string): Promise<void> {
    for (const end = performance.now() + DEADLINE_MS; ; await sleep(20)) {
      const status = (await this.#call<Record<string, Json>>('GET', path))[key]!.status;
      if (status === 'available') return;
      if (status === 'error' || performance.now() > end) throw new Error(`${path} is ${status}`);
    }
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.#send(method, path, body);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  #send(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(new URL(`/v2${path}`, this.#base), {
      method,
      headers: {
        'X-Auth-Token': `u1:${PROJECT}:admin,member,reader`,
        'X-OpenStack-Manila-API-Version': '2.99',
        'X-OpenStack-Manila-API-Experimental': 'true',
        'Content-Type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
  }
}
