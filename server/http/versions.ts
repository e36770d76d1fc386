/** The version document: what clients read first. */
import { MAX_VERSION, MIN_VERSION } from '#generated/versions.ts';

let last = { endpoint: '', text: '' };

/** The document of `/` (300) and `/v2/` (200). Most clients come by one address: its document is kept. */
export function versionDocument(endpoint: string): string {
  if (last.endpoint !== endpoint) last = { endpoint, text: write(endpoint) };
  return last.text;
}

function write(endpoint: string): string {
  return JSON.stringify({
    versions: [
      {
        id: 'v2.0',
        status: 'CURRENT',
        version: `2.${MAX_VERSION}`,
        min_version: `2.${MIN_VERSION}`,
        updated: '2015-08-27T11:33:21Z',
        links: [
          { rel: 'describedby', type: 'text/html', href: 'http://docs.openstack.org/' },
          { rel: 'self', href: `${endpoint}/v2/` },
        ],
        'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.share+json;version=1' }],
      },
    ],
  });
}
