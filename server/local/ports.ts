/** Free ports on the loopback address. */
import { createServer } from 'node:net';

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Can a server listen there? */
export function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Starts something on the port given, else on a free one; on another when somebody took that meanwhile. */
export async function onPort<T>(given: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (given) return start(given);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return await start(port);
    } catch (error) {
      if (attempt === 3 || (await isPortFree(port))) throw error;
    }
  }
}
