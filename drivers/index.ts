/** From the `share_driver` option to a driver. Each is loaded only where it is used: some are heavy. */
import { type Driver, DriverError, type DriverSettings } from './driver.ts';

const makers: Record<string, (settings: DriverSettings) => Promise<Driver>> = {
  fake: async (settings) => (await import('./fake/index.ts')).createFakeDriver(settings),
  ganesha: async (settings) => (await import('./ganesha/index.ts')).createGaneshaDriver(settings),
};

export const driverNames: readonly string[] = Object.keys(makers);

/** Fails with DriverError 'invalid' for an unknown name or an option that doesn't fit. Starts nothing yet. */
export async function createDriver(name: string, settings: DriverSettings): Promise<Driver> {
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
  if (make === undefined) {
    const known = driverNames.join(', ');
    throw new DriverError('invalid', `[${settings.backend}] share_driver = ${name}: known are ${known}`);
  }
  return make(settings);
}
