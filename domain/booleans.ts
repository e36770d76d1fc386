/** Booleans as clients write them. */
import { fault } from './faults.ts';

const TRUE = ['1', 't', 'true', 'on', 'y', 'yes'];
const FALSE = ['0', 'f', 'false', 'off', 'n', 'no'];

/** Reads a boolean from a body or a query; anything that isn't one is refused by name. */
export function readBoolean(value: unknown, where: string): boolean {
  const read = asBoolean(value);
  if (read === undefined) {
    throw fault('invalidInput', {
      reason: `${where} must be a boolean, one of ${[...TRUE, ...FALSE].join(', ')}; not ${JSON.stringify(value)}`,
    });
  }
  return read;
}

/** As `readBoolean`, but undefined for what isn't one. */
export function asBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim().toLowerCase();
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
