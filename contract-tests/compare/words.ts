/** What fits fields and query parameters in the world, by their names, and what fits nowhere. */
import fc from 'fast-check';
import { NOWHERE } from '../recorder/samples.ts';
import { names } from '../recorder/world.ts';
import type { Json } from '../replayer/recordings.ts';

const booleans = ['True', 'false', '1', '0'];

export const fitting: Readonly<Record<string, readonly string[]>> = {
  access_id: ['{{access_1}}'],
  access_level: ['rw', 'ro'],
  access_to: ['10.0.0.0/24', '10.0.0.2', 'fd00::1'],
  access_type: ['ip', 'user', 'cert'],
  all_projects: booleans,
  all_tenants: booleans,
  availability_zone: ['nova'],
  availability_zone_id: [NOWHERE],
  created_before: ['2037-01-01'],
  created_since: ['2001-01-01'],
  extra_specs: ["{'snapshot_support': 'True'}"],
  // A host that is there would be put out of service, or have all its shares ensured.
  host: ['elsewhere@none', 'elsewhere'],
  is_public: [...booleans, 'None'],
  key: ['a', 'purpose'],
  limit: ['1', '2', '0', '100'],
  marker: ['{{share_1}}'],
  metadata: ["{'a': 'b'}", '{"a": "b"}'],
  name: ['one'],
  'name~': ['on'],
  'description~': ['on'],
  network_type: ['flat', 'vlan'],
  offset: ['0', '1', '100'],
  project_id: ['{{project_demo}}', '{{project_alt}}'],
  resource_action: ['delete', 'show'],
  resource_id: ['{{share_1}}'],
  resource_type: ['share', 'access_rule', 'SHARE'],
  share_group_id: ['{{share_group_1}}'],
  share_group_snapshot_id: ['{{share_group_snapshot_1}}'],
  share_group_type_id: ['{{share_group_type_1}}'],
  share_id: ['{{share_1}}', '{{share_3}}', '{{share_6}}'],
  share_network_id: ['{{share_network_1}}'],
  share_proto: ['NFS', 'CIFS'],
  share_server_id: ['{{share_server_1}}'],
  share_type: ['{{type_1}}', 'default'],
  share_type_id: ['{{type_1}}'],
  size: ['1'],
  snapshot_id: ['{{snapshot_1}}'],
  security_service_id: ['{{security_service_1}}'],
  sort_dir: ['asc', 'desc'],
  sort_key: ['created_at', 'name', 'display_name', 'id', 'status', 'size', 'updated_at'],
  source_share_group_snapshot_id: ['{{share_group_snapshot_1}}'],
  status: ['available', 'error', 'active'],
  user_id: ['{{user_demo}}'],
  with_count: booleans,
};

/** Ids of all things that paths name. */
export const ids = [...new Set(Object.values(names))];

const odd = [
  '',
  ' ',
  'x',
  '-1',
  '0',
  '1.5',
  'None',
  'true',
  'é',
  '%',
  '99999999999999999999',
  NOWHERE,
  'x'.repeat(256),
];

/** A value of a query parameter: mostly one that fits its name. */
export function textFor(name: string): fc.Arbitrary<string> {
  const any = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...odd) },
    { weight: 1, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.constantFrom('available', 'error', 'one', 'True', '1') },
  );
  const fits = fitting[name];
  return fits ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fits) }, any) : any;
}

/** What is put in a body's place of something that fits. */
export const oddValue: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, -1, 0, 1, 2, 1.5, 2 ** 40, [], {}, ['a'], { a: 'b' }),
  fc.constantFrom<Json>(...odd, 'True', '1', '2', 'available', 'error', 'nova', 'NFS', 'default', '10.0.0.2'),
  fc.constantFrom<Json>(...ids),
);
