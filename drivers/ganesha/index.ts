/** A real NFS back end: NFS-Ganesha over btrfs. */
import { type Driver, DriverError, type DriverSettings } from '../driver.ts';

export function createGaneshaDriver(settings: DriverSettings): Driver {
  throw new DriverError('unsupported', `[${settings.backend}] share_driver = ganesha is still being built`);
}
