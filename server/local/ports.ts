/** Free ports on the loopback address. */
import { readFileSync, writeFileSync } from 'node:fs';
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

/** A port from the command line; 0 stands for any. Throws an Error that names the text. */
export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) throw new Error(`${text} is not a port`);
  return Number(text);
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

/** A port for whoever keeps `file`: a free one at first, the same ever after, unless somebody else has it now. */
export async function rememberedPort(file: string): Promise<number> {
  let port = 0;
  try {
    port = Number.parseInt(readFileSync(file, 'utf8'), 10);
  } catch {
    // The first start.
  }
  if (port > 0 && port < 65536 && (await isPortFree(port))) return port;
  port = await freePort();
  writeFileSync(file, `${port}\n`);
  return port;
}
