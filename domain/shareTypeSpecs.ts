/**
 * What the extra specs of a share type may say, and what they bound. Only the specs that the service itself
 * reads are checked; any other key is between the administrator and the back ends.
 */
import { BOOLEAN_SPECS, type ExtraSpecs, parseBoolean } from './extraSpecs.ts';

export interface SpecProblem {
  key: string;
  reason: string;
}

export type CheckedSpecs = { specs: Record<string, string | null> } | { problem: SpecProblem };

const MAX_LENGTH = 255;
export const REQUIRED_SPEC = 'driver_handles_share_servers';
const REPLICATION_TYPES = ['readable', 'writable', 'dr'];
const ENCRYPTION_KINDS = ['share', 'share_server'];
const SIZE_SPECS = ['max_share_size', 'min_share_size', 'max_share_extend_size'].map(
  (x) => `provisioning:${x}`,
);

/** JSON scalars become the text that is stored; null stays, and nothing else can be a spec's value. */
function textOf(value: unknown): string | null | undefined {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' ? String(value) : undefined;
}

function oneOf(allowed: readonly string[]): (value: string) => string | null {
  return (value) => (allowed.includes(value) ? null : `must be one of ${allowed.join(', ')}`);
}

function wholeNumber(value: string): string | null {
  if (!/^\s*[+-]?\d+\s*$/.test(value)) return 'must be a whole number of GiB';
  return Number(value) >= 1 ? null : 'must be at least 1 GiB';
}

function zoneList(value: string): string | null {
  return value.split(',').every((zone) => zone.trim() !== '')
    ? null
    : 'must be names separated by commas, none of them empty';
}

function yesOrNo(value: string): string | null {
  const fine = parseBoolean(value) !== null || /^<is> (true|false)$/i.test(value);
  return fine ? null : 'must be a boolean';
}

const checks: Readonly<Record<string, (value: string) => string | null>> = {
  ...Object.fromEntries(BOOLEAN_SPECS.map((key) => [key, yesOrNo])),
  ...Object.fromEntries(SIZE_SPECS.map((key) => [key, wholeNumber])),
  // the mode of a driver is no matching expression: only a plain boolean will do
  [REQUIRED_SPEC]: (value) => (parseBoolean(value) === null ? 'must be a boolean' : null),
  replication_type: oneOf(REPLICATION_TYPES),
  encryption_support: oneOf(ENCRYPTION_KINDS),
  availability_zones: zoneList,
};

function problemOf(key: string, value: string | null | undefined): string | null {
  if (key.length > MAX_LENGTH) return `the key is longer than ${MAX_LENGTH} characters`;
  if (value === undefined) return 'must be text, a number or a boolean';
  if ((value ?? '').length > MAX_LENGTH) return `must not be longer than ${MAX_LENGTH} characters`;
  const check = Object.hasOwn(checks, key) ? checks[key]! : null;
  return check ? check(value ?? '') : null;
}

/** Checks specs to be set on a type and answers them as they are stored, or the first problem. */
export function checkSpecs(given: Readonly<Record<string, unknown>>): CheckedSpecs {
  const specs: Record<string, string | null> = {};
  for (const [key, raw] of Object.entries(given)) {
    const value = textOf(raw);
    const reason = problemOf(key, value);
    if (reason !== null || value === undefined)
      return { problem: { key: key.slice(0, MAX_LENGTH), reason: reason ?? '' } };
    specs[key] = value;
  }
  if (specs.availability_zones) {
    specs.availability_zones = specs.availability_zones
      .split(',')
      .map((zone) => zone.trim())
      .join(',');
  }
  return { specs };
}

/** Checks the specs of a new type, which must say how share servers are handled. */
export function checkNewTypeSpecs(given: Readonly<Record<string, unknown>>): CheckedSpecs {
  if (!Object.hasOwn(given, REQUIRED_SPEC)) {
    return { problem: { key: REQUIRED_SPEC, reason: 'is required' } };
  }
  return checkSpecs(given);
}

export type Sizing = 'create' | 'extend' | 'extendAsAdmin';

/**
 * Why a size in GiB is outside what the type provisions; null when it is within. An administrator extends up
 * to a bound of its own, others up to the size that they could also create.
 */
export function sizeProblem(specs: ExtraSpecs, size: number, sizing: Sizing): string | null {
  const bound = (name: string) => {
    const value = specs[`provisioning:${name}`];
    return value ? Number(value) : null;
  };
  const min = bound('min_share_size');
  if (sizing === 'create' && min !== null && size < min)
    return `${size} GiB is less than the minimum of ${min} GiB`;
  const max = bound(sizing === 'extendAsAdmin' ? 'max_share_extend_size' : 'max_share_size');
  return max !== null && size > max ? `${size} GiB is more than the maximum of ${max} GiB` : null;
}
