/** Identity for development and tests: the token itself says who calls, `user_id:project_id:role,role`. */
import type { Caller, Identity } from './identity.ts';

const cache = new Map<string, Caller>();
const CACHE_SIZE = 1000;

export const noauth: Identity = {
  challenge: 'Keystone uri="http://127.0.0.1:5000"',
  async authenticate(token) {
    if (!token) return null;
    return cache.get(token) ?? remember(token);
  },
};

function remember(token: string): Caller | null {
  const [userId, projectId, roles] = token.split(':');
  if (!userId || !projectId || roles === undefined) return null;
  const caller = { userId, projectId, roles: roles.split(',').map((role) => role.trim().toLowerCase()) };
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(token, caller);
  return caller;
}
