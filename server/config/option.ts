/**
 * The kinds of option there are. An option knows its default, reads its own text and says what it expects; the
 * table of options and the types of the configuration follow from it.
 */
import { isIP } from 'node:net';

export interface Option<T> {
  /** what a value has to be, as a reader of an error needs it: "an integer" */
  readonly expects: string;
  /** taken when no file sets the option; a function is asked when the configuration is loaded */
  readonly fallback: T | (() => T);
  readonly help: string;
  /** its value is never shown */
  readonly secret: boolean;
  /** throws an Error that says what is wrong, without the value */
  readonly read: (text: string) => T;
}

/** The options of one section, by name. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>;

/** The values that a table of options describes. */
export type Values<T> = { readonly [K in keyof T]: T[K] extends Option<infer V> ? V : never };

type Fallback<T> = T | (() => T);

interface Bounds {
  min?: number;
  max?: number;
}

function option<T>(
  expects: string,
  fallback: Fallback<T>,
  help: string,
  read: (text: string) => T,
): Option<T> {
  return { expects, fallback, help, read, secret: false };
}

/** Makes options of one kind, nullable when the default is null. */
interface Maker<T> {
  (fallback: Fallback<T>, help: string): Option<T>;
  (fallback: null, help: string): Option<T | null>;
}

function maker<T>(expects: string, read: (text: string) => T): Maker<T> {
  return (<F extends T | null>(fallback: Fallback<F>, help: string) =>
    option<T | F>(expects, fallback, help, read)) as Maker<T>;
}

export const text = maker<string>('a text', (value) => value);

export const boolean = maker<boolean>('a boolean (true or false)', (value) => {
  const word = value.toLowerCase();
  if (['true', '1', 'yes', 'on'].includes(word)) return true;
  if (['false', '0', 'no', 'off'].includes(word)) return false;
  throw new Error('not a boolean');
});

export const port = maker<number>('a port (0 to 65535)', (value) =>
  readInteger(value, { min: 0, max: 65535 }),
);

export const host = maker<string>('a host name or address', (value) => {
  const bare = value.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0 && !/^[a-z0-9_]([a-z0-9_.-]{0,252}[a-z0-9_])?$/i.test(bare))
    throw new Error('not a host');
  return bare;
});

/** Commas between the items; an empty text is an empty list. */
export const list = maker<readonly string[]>('a list, with commas between its items', (value) =>
  splitList(value),
);

/** `name:value` items with commas between them. */
export const dict = maker<Readonly<Record<string, string>>>(
  'a list of name:value, with commas between',
  (value) => {
    const pairs = splitList(value).map((item) => {
      const colon = item.indexOf(':');
      if (colon < 1) throw new Error('an item has no name before a colon');
      return [item.slice(0, colon).trim(), item.slice(colon + 1).trim()] as const;
    });
    return Object.fromEntries(pairs);
  },
);

export function integer(fallback: number, help: string, bounds?: Bounds): Option<number>;
export function integer(fallback: null, help: string, bounds?: Bounds): Option<number | null>;
export function integer(fallback: number | null, help: string, bounds: Bounds = {}): Option<number | null> {
  return option(`an integer${within(bounds)}`, fallback, help, (value) => readInteger(value, bounds));
}

export function float(fallback: number, help: string, bounds: Bounds = {}): Option<number> {
  return option(`a number${within(bounds)}`, fallback, help, (value) => {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)) throw new Error('not a number');
    return inBounds(Number(value), bounds);
  });
}

export function choice<const C extends string, F extends C | null>(
  choices: readonly C[],
  fallback: F,
  help: string,
): Option<C | (F & null)> {
  return option<C | (F & null)>(`one of ${choices.join(', ')}`, fallback as C | (F & null), help, (value) => {
    const found = choices.find((one) => one === value);
    if (found === undefined) throw new Error('not one of the choices');
    return found;
  });
}

/** An option whose text says more than its kind, such as a URL; `read` throws an Error without the text. */
export function parsed<T>(
  expects: string,
  fallback: Fallback<T>,
  help: string,
  read: (text: string) => T,
): Option<T> {
  return option(expects, fallback, help, read);
}

export function secret<T>(of: Option<T>): Option<T> {
  return { ...of, secret: true };
}

function splitList(value: string): string[] {
  if (value.trim() === '') return [];
  return value.split(',').map((item) => item.trim());
}

function readInteger(value: string, bounds: Bounds): number {
  if (!/^[+-]?\d+$/.test(value)) throw new Error('not an integer');
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error('too large');
  return inBounds(number, bounds);
}

function inBounds(number: number, { min = -Infinity, max = Infinity }: Bounds): number {
  if (number < min || number > max) throw new Error('out of bounds');
  return number;
}

function within({ min, max }: Bounds): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max !== undefined ? ` of at most ${max}` : '';
}
