import type { ApiClient } from './apiClient.ts';
import { type Files, takeFirstSteps } from './firstSteps.ts';

/** An API of one project that finishes everything at the second look, and an export in memory. */
function service({ shareEnds = 'available', ruleEnds = 'active' } = {}) {
  const state = {
    networks: [] as { id: string; name: string }[],
    types: [] as { name: string }[],
    shares: [] as { id: string; name: string; size: number; status: string }[],
    rules: [] as { id: string; access_type: string; access_to: string; state: string }[],
    files: new Map<string, string>(),
    posts: [] as string[],
    bodies: [] as object[],
  };
  const get = async (path: string): Promise<unknown> => {
    if (path === '/share-networks') return { share_networks: state.networks };
    if (path === '/types') return { share_types: state.types };
    if (path === '/shares/detail') return { shares: [...state.shares] };
    if (path.endsWith('/export_locations'))
      return {
        export_locations: [
          { path: '10.0.0.1:/other', preferred: false },
          { path: '127.0.0.1:/s1', preferred: true, metadata: { port: '3049' } },
        ],
      };
    if (path.startsWith('/messages')) return { messages: [{ user_message: 'no room' }] };
    if (path.startsWith('/share-access-rules')) {
      const answer = { access_list: state.rules.map((rule) => ({ ...rule })) };
      for (const rule of state.rules) rule.state = ruleEnds;
      return answer;
    }
    const answer = { share: { ...state.shares[0]! } };
    state.shares[0]!.status = shareEnds;
    return answer;
  };
  const api: ApiClient = {
    get: (path) => get(path) as never,
    async post(path, body) {
      state.posts.push(path);
      state.bodies.push(body);
      if (path === '/share-networks') {
        state.networks.push({ id: 'n1', name: 'net' });
        return { share_network: { id: 'n1' } } as never;
      }
      if (path === '/types') state.types.push({ name: 'default' });
      if (path === '/shares') state.shares.push({ id: 's1', name: 'demo', size: 1, status: 'creating' });
      if (path === '/shares/s1/action') {
        const { access_type, access_to } = (
          body as { allow_access: { access_type: string; access_to: string } }
        ).allow_access;
        state.rules.push({ id: 'r1', access_type, access_to, state: 'queued_to_apply' });
      }
      return { share: state.shares[0] } as never;
    },
    async until(path, _what, ready) {
      for (let look = 0; look < 5; look++) {
        const found = ready((await get(path)) as never);
        if (found !== null && found !== undefined) return found;
      }
      throw new Error('never');
    },
  };
  const files: Files = {
    list: async () => [...state.files.keys()].map((path) => path.slice(1)),
    read: async (path) => state.files.get(path) ?? '',
    write: async (path, text) => void state.files.set(path, text),
    unmount: async () => {},
  };
  const said: string[] = [];
  const tools = { api, mount: async () => files, say: (line: string) => void said.push(line) };
  return { state, said, tools };
}

test('the first time, everything is made; the second time, all of it is found', async () => {
  const { state, said, tools } = service();
  const first = await takeFirstSteps(tools);
  expect(first).toMatchObject({ share: { id: 's1' }, exportLocation: '127.0.0.1:/s1', port: 3049 });
  expect(state.posts).toEqual(['/types', '/shares', '/shares/s1/action']);
  const written = state.files.get('/hello.txt');
  said.length = 0;
  expect(await takeFirstSteps(tools)).toEqual(first);
  expect(state.posts).toHaveLength(3);
  expect(state.files.get('/hello.txt')).toBe(written);
  expect(said[0]).toBe('found the share demo, 1 GiB, available');
  expect(said.at(-1)).toBe(`hello.txt, read over NFS: ${written!.trim()}`);
});

test('a share in a network is of a type whose back ends have servers for networks', async () => {
  const { state, tools } = service();
  await takeFirstSteps(tools, { type: 'tenants', share: 'demo', network: 'net' });
  expect(state.posts).toEqual(['/types', '/share-networks', '/shares', '/shares/s1/action']);
  expect(state.bodies).toMatchObject([
    { share_type: { extra_specs: { driver_handles_share_servers: 'True' } } },
    { share_network: { name: 'net' } },
    { share: { share_network_id: 'n1', share_type: 'tenants' } },
    {},
  ]);
});

test('a share that can not be made is told with the reason', async () => {
  await expect(takeFirstSteps(service({ shareEnds: 'error' }).tools)).rejects.toThrow(
    'the share could not be made: no room',
  );
});

test('a rule that can not be applied is told', async () => {
  await expect(takeFirstSteps(service({ ruleEnds: 'error' }).tools)).rejects.toThrow('access for 127.0.0.1');
});
