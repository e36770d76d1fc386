"""What manilaclient lists with an endpoint and a token: the names of what it found, as JSON."""

import json
import sys

from manilaclient import api_versions, client

endpoint, token = sys.argv[1:]
newest = api_versions.APIVersion(api_versions.MAX_VERSION)
manila = client.Client('2', input_auth_token=token, service_catalog_url=endpoint, api_version=newest)

json.dump(
    {
        'version': newest.get_string(),
        'pools': [pool.name for pool in manila.pools.list(detailed=True)],
        'services': sorted(service.binary for service in manila.services.list()),
        'zones': [zone.name for zone in manila.availability_zones.list()],
        'types': {kind.name: kind.get_keys() for kind in manila.share_types.list()},
        'shares': [share.name for share in manila.shares.list(detailed=True)],
        'instances': len(manila.share_instances.list()),
        'snapshots': [snapshot.name for snapshot in manila.share_snapshots.list()],
        'messages': [message.resource_type for message in manila.messages.list()],
        'quota': manila.quotas.get(token.split(':')[1]).shares,
        'limits': {limit.name: limit.value for limit in manila.limits.get().absolute},
    },
    sys.stdout,
)
