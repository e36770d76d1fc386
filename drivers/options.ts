/**
 * Reading a back end's section of the configuration. Everything arrives as text; what doesn't fit is refused
 * with the section, the option and the value, so that the operator knows what to change.
 */
import { DriverError, type DriverSettings } from './driver.ts';

export interface Options {
  text(name: string, fallback: string): string;
  optionalText(name: string): string | undefined;
  flag(name: string, fallback: boolean): boolean;
  /** A whole number within [min, max]. */
  integer(name: string, fallback: number, min?: number, max?: number): number;
  /** A number within [min, max]. */
  number(name: string, fallback: number, min?: number, max?: number): number;
  optionalNumber(name: string, min?: number, max?: number): number | undefined;
  /** `a:1,b:2` as pairs, in order. */
  pairs(name: string): [string, string][];
  /** A JSON object. */
  object(name: string): Record<string, unknown>;
  refuse(name: string, why: string): never;
}

export function readOptions(settings: Pick<DriverSettings, 'backend' | 'options'>): Options {
  const raw = (name: string): string | undefined => {
    const value = settings.options[name]?.trim();
    return value === '' ? undefined : value;
  };
  const refuse = (name: string, why: string): never => {
    throw new DriverError('invalid', `[${settings.backend}] ${name} = ${raw(name) ?? ''}: ${why}`);
  };
  const bounded = (name: string, text: string, min: number, max: number, whole: boolean): number => {
    const value = Number(text);
    if (!Number.isFinite(value) || (whole && !Number.isInteger(value)))
      refuse(name, whole ? 'a whole number is expected' : 'a number is expected');
    if (value < min || value > max) refuse(name, `must be from ${min} to ${max}`);
    return value;
  };
  const optionalNumber = (name: string, min = 0, max = Number.MAX_VALUE): number | undefined => {
    const text = raw(name);
    return text === undefined ? undefined : bounded(name, text, min, max, false);
  };
  return {
    refuse,
    text: (name, fallback) => raw(name) ?? fallback,
    optionalText: raw,
    flag(name, fallback) {
      const text = raw(name);
      if (text === undefined) return fallback;
      if (/^(1|t|true|y|yes|on)$/i.test(text)) return true;
      if (/^(0|f|false|n|no|off)$/i.test(text)) return false;
      return refuse(name, 'true or false is expected');
    },
    integer(name, fallback, min = 0, max = Number.MAX_SAFE_INTEGER) {
      const text = raw(name);
      return text === undefined ? fallback : bounded(name, text, min, max, true);
    },
    number: (name, fallback, min, max) => optionalNumber(name, min, max) ?? fallback,
    optionalNumber,
    pairs(name) {
      const items = (raw(name) ?? '').split(',').map((item) => item.trim());
      return items.filter(Boolean).map((item) => {
        const colon = item.indexOf(':');
        if (colon < 1) refuse(name, `'${item}' is not of the form name:value`);
        return [item.slice(0, colon).trim(), item.slice(colon + 1).trim()];
      });
    },
    object(name) {
      const text = raw(name);
      if (text === undefined) return {};
      try {
        const value: unknown = JSON.parse(text);
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          return value as Record<string, unknown>;
      } catch {
        // falls through to the refusal, which names the option
      }
      return refuse(name, 'a JSON object is expected');
    },
  };
}

/** What every back end reports from its options alone. Percentages of a pool's total. */
export interface CommonReport {
  backendName: string;
  handlesShareServers: boolean;
  replicationDomain: string | null;
  /** reserved_* and max_over_subscription_ratio, as they stand in a pool's report */
  pool: {
    reserved_percentage: number;
    reserved_snapshot_percentage: number;
    reserved_share_extend_percentage: number;
    max_over_subscription_ratio?: number;
  };
  /** filter_function and goodness_function, where set */
  functions: { filter_function?: string; goodness_function?: string };
}

/** The kinds of reserved room default to the plain one, as the field has it. */
export function readCommon(settings: Pick<DriverSettings, 'backend' | 'options'>): CommonReport {
  const options = readOptions(settings);
  const reserved = options.integer('reserved_share_percentage', 0, 0, 100);
  const ratio = options.optionalNumber('max_over_subscription_ratio', 0);
  const filter = options.optionalText('filter_function');
  const goodness = options.optionalText('goodness_function');
  return {
    backendName: options.text('share_backend_name', settings.backend),
    handlesShareServers: options.flag('driver_handles_share_servers', false),
    replicationDomain: options.optionalText('replication_domain') ?? null,
    pool: {
      reserved_percentage: reserved,
      reserved_snapshot_percentage:
        options.integer('reserved_share_from_snapshot_percentage', 0, 0, 100) || reserved,
      reserved_share_extend_percentage:
        options.integer('reserved_share_extend_percentage', 0, 0, 100) || reserved,
      ...(ratio === undefined ? {} : { max_over_subscription_ratio: ratio }),
    },
    functions: {
      ...(filter === undefined ? {} : { filter_function: filter }),
      ...(goodness === undefined ? {} : { goodness_function: goodness }),
    },
  };
}
