/** Request targets taken apart. */

/** Path and query. A target may be a whole address, as clients write it to proxies: then its path counts. */
export function splitUrl(url: string): [path: string, search?: string] {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const at = target.indexOf('?');
  return at < 0 ? [target] : [target.slice(0, at), target.slice(at + 1)];
}

/**
 * Decoded segments. Slashes in a row count once, since clients append paths to endpoints that end in one. undefined
 * when the encoding is broken.
 */
export function segmentsOf(path: string): string[] | undefined {
  try {
    const raw = path.replace(/^\/+/, '').split(/\/+/);
    return path.includes('%') ? raw.map(decodeURIComponent) : raw;
  } catch {
    return undefined;
  }
}
