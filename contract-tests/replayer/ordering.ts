/**
 * The order of lists. Some a client can sort: they follow the sort key asked for, and items with equal keys fall
 * anywhere. The others have no order, except short ones that the interface itself spells out (links).
 */
import type { Json, JsonObject } from './recordings.ts';

export type ListOrder = 'sorted' | 'fixed' | 'none';

const sortable = new Set(['shares', 'snapshots', 'messages', 'resource_locks', 'transfers']);
const fixed = new Set(['links', 'versions', 'media-types', 'reasons']);

/** How the list under a key of a response is ordered; `top` where it is the response's own list. */
export function orderOf(key: string, top: boolean): ListOrder {
  if (fixed.has(key) || key.endsWith('_links')) return 'fixed';
  return top && sortable.has(key) ? 'sorted' : 'none';
}

/** The sort key of a request; resources are sorted by their creation when it names none. */
export function sortKeyOf(path: string): string {
  const query = path.slice(path.indexOf('?') + 1);
  return (path.includes('?') && new URLSearchParams(query).get('sort_key')) || 'created_at';
}

/** What has been seen of each resource: a listed summary lacks the field that it is sorted by. */
export class KnownItems {
  readonly #items = new Map<string, JsonObject>();

  /** Takes note of every resource in a response. */
  remember(value: Json): void {
    if (Array.isArray(value)) {
      for (const item of value) this.remember(item);
    } else if (value !== null && typeof value === 'object') {
      if (typeof value.id === 'string') {
        this.#items.set(value.id, { ...this.#items.get(value.id), ...value });
      }
      for (const item of Object.values(value)) this.remember(item);
    }
  }

  /** Whether two resources have the same value under a sort key, so that either may come first. */
  tie(one: string, other: string, sortKey: string): boolean {
    const left = this.#items.get(one)?.[sortKey];
    const right = this.#items.get(other)?.[sortKey];
    return left !== undefined && left === right;
  }
}
