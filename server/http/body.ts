/** The request body: JSON or a clear refusal. */
import { fault } from '#domain/faults.ts';

/** Parses a body that an operation needs. `type` is the Content-Type as sent. */
export function parseBody(raw: Buffer | undefined, type: string | undefined): unknown {
  if (!raw || raw.length === 0) throw fault('noBody');
  const media = (type ?? '').split(';', 1).join().trim().toLowerCase();
  if (media !== 'application/json') throw fault('unsupportedBody');
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch (error) {
    throw fault('malformedBody', { reason: (error as Error).message });
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
