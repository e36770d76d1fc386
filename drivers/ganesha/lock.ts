/**
 * One worker per state directory: two would each start the other's server again. The lock is a name that the
 * kernel frees when its holder ends, however it ends.
 */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError } from '../driver.ts';

/** Waits for a holder that is just ending, until the signal. Answers how to let go. */
export async function lockDirectory(directory: string, signal: AbortSignal): Promise<() => Promise<void>> {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  for (;;) {
    const server = await listen(`\0shoal-ganesha-${name}`);
    if (server !== null) {
      return async () => {
        const closed = Promise.withResolvers<void>();
        server.close(() => closed.resolve());
        await closed.promise;
      };
    }
    if (signal.aborted) throw new DriverError('failed', `another worker serves from ${directory}`);
    await sleep(100);
  }
}

/** null: somebody else has the name. */
async function listen(name: string): Promise<Server | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Server | null>();
  const server = createServer((socket) => socket.destroy());
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') resolve(null);
    else reject(error);
  });
  server.listen(name, () => {
    server.unref();
    resolve(server);
  });
  return promise;
}
