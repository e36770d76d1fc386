/** Runs once before the database tests of a run of jest, and starts what they share. */
import { startSharedServices } from './services.ts';

const running = Symbol.for('shoal.testServices');

export default async function setup(): Promise<void> {
  (globalThis as Record<symbol, unknown>)[running] = await startSharedServices();
}

/** Runs once after them. */
export async function teardown(): Promise<void> {
  const services = (globalThis as Record<symbol, unknown>)[running] as { stop(): Promise<void> } | undefined;
  await services?.stop();
}
