/** Pages of lists: limit, offset and order, as clients ask for them. */
import { fault } from './faults.ts';

export interface Page {
  /** null: up to the service's own maximum */
  limit: number | null;
  offset: number;
}

/** Reads `limit` and `offset`. Throws 400 for what is no count. The maximum caps without a word. */
export function readPage(query: Readonly<Record<string, unknown>>, maxLimit: number): Page {
  const limit = count(query.limit, 'limit');
  return {
    limit: limit === undefined ? null : Math.min(limit, maxLimit),
    offset: count(query.offset, 'offset') ?? 0,
  };
}

function count(value: unknown, name: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[+-]?\d+$/.test(value.trim())) {
    throw fault('invalidQuery', { where: name, reason: `must be an integer, not ${JSON.stringify(value)}` });
  }
  const number = Number(value);
  if (number < 0) throw fault('invalidQuery', { where: name, reason: 'must not be negative' });
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

export interface Order {
  key: string;
  direction: 'asc' | 'desc';
}

/** Reads `sort_key` and `sort_dir`; keys that the resource can't be sorted by are refused with the ones it can. */
export function readOrder(
  query: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  byDefault = 'created_at',
): Order {
  const key = typeof query.sort_key === 'string' ? query.sort_key : byDefault;
  if (!keys.includes(key))
    throw fault('invalidQuery', {
      where: 'sort_key',
      reason: `can't sort by ${JSON.stringify(key)}; known are ${keys.join(', ')}`,
    });
  const direction = String(query.sort_dir ?? 'desc').toLowerCase();
  if (direction !== 'asc' && direction !== 'desc') {
    throw fault('invalidQuery', {
      where: 'sort_dir',
      reason: `must be asc or desc, not ${JSON.stringify(query.sort_dir)}`,
    });
  }
  return { key, direction };
}

/**
 * `<resource>_links`: where the next page is, when this one is full; undefined otherwise.
 * @param request what links begin with, and the path and query as sent
 */
export function nextLinks(
  request: { links: { self: string }; url: string },
  collection: string,
  items: readonly { id?: unknown }[],
  maxLimit: number,
): { rel: 'next'; href: string }[] | undefined {
  const search = new URLSearchParams(request.url.split('?')[1] ?? '');
  const limit = Math.min(Number(search.get('limit') ?? maxLimit), maxLimit);
  if (items.length === 0 || items.length < limit) return undefined;
  search.delete('marker');
  search.append('marker', String(items.at(-1)!.id));
  return [{ rel: 'next', href: `${request.links.self}/${collection}?${search}` }];
}
