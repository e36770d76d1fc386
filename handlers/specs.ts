/** Specs of types (share types, share group types, QoS types) as requests write them: some at once, or one by its key. */
import { fault } from '#domain/faults.ts';

type Given = Readonly<Record<string, string | boolean>>;

/** Refuses keys that could not stand in a path of their own. */
export function assertSpecKeys(given: Given): void {
  const odd = Object.keys(given).find((key) => !/^[\p{L}\p{N}_.:-]+$/u.test(key));
  if (odd === undefined) return;
  throw fault('invalidExtraSpec', { key: odd, reason: 'only letters, digits, _ . : and - make up a key' });
}

/** Refuses a body that has another key than the one in the path, or more. */
export function assertOneSpec(given: Given, key: string): void {
  const keys = Object.keys(given);
  if (keys.length === 1 && keys[0] === key) return;
  throw fault('invalidBody', { where: 'the whole', reason: `must have the one key ${key}` });
}

/** Specs as they are stored: all texts. */
export function asTexts(given: Given): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      typeof value === 'boolean' ? (value ? 'True' : 'False') : value,
    ]),
  );
}
