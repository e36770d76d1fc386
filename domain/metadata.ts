/** Metadata of shares, snapshots, access rules, export locations: short texts under short keys. */
import { fault } from './faults.ts';

const KEY_LENGTH = 255;
const VALUE_LENGTH = 1023;

/** Checks metadata as clients send it and answers it as it is stored. Throws invalidMetadata naming the key. */
export function readMetadata(given: unknown, where = 'metadata'): Record<string, string> {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || (Array.isArray(given) && given.length > 0)) {
    throw fault('invalidMetadata', { reason: `${where} must be an object of texts` });
  }
  const read: Record<string, string> = {};
  for (const [key, value] of Object.entries(given)) {
    if (key.trim() === '') throw fault('invalidMetadata', { reason: `${where} has a blank key` });
    if (key.length > KEY_LENGTH)
      throw fault('invalidMetadata', {
        reason: `the key ${key.slice(0, 40)}… is longer than ${KEY_LENGTH} characters`,
      });
    if (value === null || typeof value === 'object')
      throw fault('invalidMetadata', { reason: `the value of ${key} must be a text` });
    const text = String(value);
    if (text.length > VALUE_LENGTH)
      throw fault('invalidMetadata', {
        reason: `the value of ${key} is longer than ${VALUE_LENGTH} characters`,
      });
    read[key] = text;
  }
  return read;
}

/** Keys that only admins may write: throws notAllowed when one is among those given. */
export function refuseAdminOnly(keys: Iterable<string>, adminOnly: readonly string[]): void {
  for (const key of keys) {
    if (adminOnly.includes(key))
      throw fault('notAllowed', { reason: `The metadata key ${key} is for admins only.` });
  }
}
