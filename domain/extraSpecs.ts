/**
 * How a share type's extra specs are held against what a pool reports. A spec is `[operator] words…`; the
 * capability it names may be text, a number, a boolean, a list of these (any item will do) or nested objects.
 * What a pool doesn't report, or reports as null, satisfies no spec, not even a negative one.
 */

export type ExtraSpecs = Readonly<Record<string, string | null>>;
export type Capabilities = Readonly<Record<string, unknown>>;

/** The first spec that a pool doesn't meet: its key as the type has it, what it asks, what was reported. */
export interface SpecMismatch {
  key: string;
  asks: string;
  reports: string;
}

const TRUE_WORDS = new Set(['true', '1', 't', 'on', 'y', 'yes']);
const FALSE_WORDS = new Set(['false', '0', 'f', 'off', 'n', 'no']);

/** Reads a boolean strictly: null for whatever isn't plainly one. */
export function parseBoolean(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const word = String(value ?? '')
    .trim()
    .toLowerCase();
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : null;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number from a number, a boolean (1 or 0) or decimal text; null otherwise. */
export function parseNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isNaN(value) ? null : value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return NUMBER.test(text) ? Number(text) : null;
}

type Operator = (capability: unknown, words: readonly string[]) => boolean;

function numeric(compare: (reported: number, asked: number) => boolean): Operator {
  return (capability, words) => {
    const reported = parseNumber(capability);
    const asked = parseNumber(words[0]);
    return reported !== null && asked !== null && compare(reported, asked);
  };
}

function textual(compare: (reported: string, asked: string) => boolean): Operator {
  return (capability, words) =>
    typeof capability === 'string' && words[0] !== undefined && compare(capability, words[0]);
}

/** `<or> a <or> b`: the words at the odd places are the alternatives. */
function alternatives(words: readonly string[]): string[] {
  return ['<or>', ...words].flatMap((word, i, all) => (word === '<or>' && all[i + 1] ? [all[i + 1]!] : []));
}

const operators: Readonly<Record<string, Operator>> = {
  // `=` has meant "at least" since the field began
  '=': numeric((reported, asked) => reported >= asked),
  '==': numeric((reported, asked) => reported === asked),
  '!=': numeric((reported, asked) => reported !== asked),
  '>=': numeric((reported, asked) => reported >= asked),
  '<=': numeric((reported, asked) => reported <= asked),
  's==': textual((reported, asked) => reported === asked),
  's!=': textual((reported, asked) => reported !== asked),
  's<': textual((reported, asked) => reported < asked),
  's<=': textual((reported, asked) => reported <= asked),
  's>': textual((reported, asked) => reported > asked),
  's>=': textual((reported, asked) => reported >= asked),
  '<in>': textual((reported, asked) => reported.includes(asked)),
  '<is>': (capability, words) => {
    const asked = parseBoolean(words[0]);
    if (asked === null) return false;
    // 1 and 0 count as booleans, other numbers and any text don't
    return typeof capability === 'number' ? capability === Number(asked) : capability === asked;
  },
  '<or>': (capability, words) => typeof capability === 'string' && alternatives(words).includes(capability),
};

/** `<all-in> a b`: a list that holds all of them, or a text in which all occur. */
function holdsAll(capability: unknown, words: readonly string[]): boolean {
  const asked = words.filter((word) => word !== '<all-in>');
  if (asked.length === 0) return false;
  if (Array.isArray(capability)) return asked.every((word) => capability.includes(word));
  return typeof capability === 'string' && asked.every((word) => capability.includes(word));
}

/** Without an operator: the same text whatever its case, or for a boolean any way of writing it. */
function bare(capability: unknown, spec: string): boolean {
  if (typeof capability === 'boolean') return parseBoolean(spec) === capability;
  return typeof capability === 'string' && capability.toLowerCase() === spec.toLowerCase();
}

/** Whether one reported capability meets one spec. */
export function meetsSpec(capability: unknown, spec: string): boolean {
  if (capability === null || capability === undefined) return false;
  const [first = '', ...words] = spec.split(/\s+/).filter((word, i) => word !== '' || i === 0);
  if (first === '<all-in>') return holdsAll(capability, words);
  if (Array.isArray(capability)) return capability.some((item) => meetsSpec(item, spec));
  const operator = Object.hasOwn(operators, first) ? operators[first]! : null;
  return operator ? operator(capability, words) : bare(capability, spec);
}

/** The spec that names the QoS type, by name or id, of shares of a type. */
export const DEFAULT_QOS_TYPE = 'default_qos_type';

/**
 * The path of the capability that a spec's key names: `x` and `capabilities:x` are one and the same,
 * `capabilities:x:y` looks into x, and what has another prefix is the driver's business (null). Availability zones
 * have a filter of their own, and the default QoS type is no capability.
 */
export function capabilityPath(key: string): string[] | null {
  const parts = key.split(':');
  if (parts.length === 1) return key === 'availability_zones' || key === DEFAULT_QOS_TYPE ? null : parts;
  return parts[0] === 'capabilities' ? parts.slice(1) : null;
}

function lookUp(capabilities: Capabilities, path: readonly string[]): unknown {
  let value: unknown = capabilities;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The first of the specs that these capabilities don't meet; null when they meet them all. */
export function firstMismatch(capabilities: Capabilities, specs: ExtraSpecs): SpecMismatch | null {
  for (const [key, spec] of Object.entries(specs)) {
    const path = capabilityPath(key);
    if (path === null) continue;
    const reported = lookUp(capabilities, path);
    if (!meetsSpec(reported, spec ?? '')) return { key, asks: spec ?? '', reports: shown(reported) };
  }
  return null;
}

/** Specs that say yes or no; a bare value of theirs is read as `<is> value`. */
export const BOOLEAN_SPECS = [
  'driver_handles_share_servers',
  'snapshot_support',
  'create_share_from_snapshot_support',
  'revert_to_snapshot_support',
  'mount_snapshot_support',
  'snapshot_inherit_share_access_support',
  'mount_point_name_support',
] as const;

export interface SpecRequest {
  /** NFS, CIFS…; null when any will do */
  protocol: string | null;
  /** from a snapshot or for a replica: the back end follows from the source, whatever the type names */
  followsSource: boolean;
}

/** The specs that a request is scheduled by: its type's, with what the request itself adds and drops. */
export function schedulingSpecs(specs: ExtraSpecs, request: SpecRequest): Record<string, string | null> {
  const result: Record<string, string | null> = { ...specs };
  for (const key of BOOLEAN_SPECS) {
    const value = result[key];
    if (value !== undefined && value !== null && !value.startsWith('<is>')) result[key] = `<is> ${value}`;
  }
  if (request.protocol !== null) result.storage_protocol ??= `<in> ${request.protocol.toUpperCase()}`;
  if (request.followsSource) {
    delete result.share_backend_name;
    delete result['capabilities:share_backend_name'];
  }
  return result;
}

/** The names in the `availability_zones` spec; null when the type goes anywhere. */
export function zonesOf(specs: ExtraSpecs): string[] | null {
  const names = (specs.availability_zones ?? '').split(',').map((name) => name.trim());
  const zones = names.filter((name) => name !== '');
  return zones.length > 0 ? zones : null;
}

/** Whether the type asks for thick shares: nothing said leaves it to the pool. */
export function asksThick(specs: ExtraSpecs): boolean {
  const spec = specs.thin_provisioning ?? specs['capabilities:thin_provisioning'];
  return parseBoolean(spec?.replace(/^<is>\s*/, '')) === false;
}
