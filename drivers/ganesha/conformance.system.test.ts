import { describeDriver } from '../conformance.ts';
import { describeHere, ganeshaBench } from './workbench.ts';

describeHere('ganesha over btrfs', () =>
  describeDriver('ganesha', () => ganeshaBench({ ganesha_more_pools: 'second', replication_domain: 'own' })),
);

describeHere('ganesha with share servers', () =>
  describeDriver('ganesha', () => ganeshaBench({ driver_handles_share_servers: 'true' })),
);

describeHere('ganesha over plain directories', () =>
  describeDriver('ganesha', () =>
    ganeshaBench({
      ganesha_storage: 'plain',
      ganesha_more_pools: 'second',
      replication_domain: 'own',
    }),
  ),
);
