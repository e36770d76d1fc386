/** One pair of metadata, as a request names it in its path and again in its body. */
import { fault } from '#domain/faults.ts';

/** Refuses a body that has other pairs than the one that the path names. */
export function assertOnlyKey(body: Readonly<Record<string, string>>, key: string): void {
  const keys = Object.keys(body);
  if (keys.length === 1 && keys[0] === key) return;
  throw fault('invalidBody', {
    where: 'metadata',
    reason: `must have the one key of the path, ${key}; it has ${keys.length === 0 ? 'none' : keys.join(', ')}`,
  });
}
