/** Taking under management what a back end has already: what is asked of such requests, and what they leave. */
import { fault } from './faults.ts';

/** The metadata key that tells since when a share or snapshot is managed. */
const MANAGED_AT = '__managed_at';

/** Metadata that tells the time. */
export function managedAt(time: string): Record<string, string> {
  return { [MANAGED_AT]: time.replace('T', ' ') };
}

/** A field that must be there, and be text. Throws unsupported (422) otherwise. */
export function requireText(given: Readonly<Record<string, unknown>>, key: string): string {
  const value = given[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  const why = value === undefined ? 'is required' : 'must be text, and not empty';
  throw fault('unsupported', { reason: `${key} ${why}` });
}

/** Options for the driver as it takes them: texts. Lists and objects in them are refused. */
export function readDriverOptions(
  given: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, string> {
  const entries = Object.entries(given ?? {}).map(([key, value]) => {
    if (typeof value === 'object' || value === undefined)
      throw fault('invalidInput', {
        reason: `driver_options.${key} must be text, a number or a boolean, no object or list`,
      });
    return [key, String(value)] as const;
  });
  return Object.fromEntries(entries);
}
