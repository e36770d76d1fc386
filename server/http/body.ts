/** The request body: JSON or a clear refusal. */
import { Fault, fault } from '#domain/faults.ts';

/** Parses a body that an operation needs. `type` is the Content-Type as sent. */
export function parseBody(raw: Buffer | undefined, type: string | undefined): unknown {
  if (!raw || raw.length === 0) throw fault('noBody');
  const media = (type ?? '').split(';', 1).join().trim().toLowerCase();
  if (media !== 'application/json') throw fault('unsupportedBody');
  const text = raw.toString('utf8');
  try {
    return HALF_CHARACTER.test(text) ? JSON.parse(text, refuseHalves) : JSON.parse(text);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw fault('malformedBody', { reason: (error as Error).message });
  }
}

/** JSON can escape half a character (a surrogate without its other half); nothing can store one. */
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;

function refuseHalves(key: string, value: unknown): unknown {
  for (const text of [key, value]) {
    if (typeof text === 'string' && !text.isWellFormed())
      throw fault('malformedBody', { reason: `${JSON.stringify(text)} has half of a character` });
  }
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
