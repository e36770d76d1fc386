/** How long an API takes to start, with nothing else starting beside it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../server/local/ports.ts';

const DEADLINE_MS = 30_000;
const LOOK_MS = 10;

/** Seconds from its start until it answers: another API of the installation with this configuration. */
export async function startApi(configFile: string): Promise<number> {
  const port = await freePort();
  const ownPort = `${configFile}.bench`;
  writeFileSync(ownPort, `[DEFAULT]\nosapi_share_listen_port = ${port}\n`);
  const program = join(import.meta.dirname, '..', 'server', 'api.ts');
  const begin = performance.now();
  const api = spawn(process.execPath, [program, '--config-file', configFile, '--config-file', ownPort], {
    stdio: 'ignore',
  });
  const ended = once(api, 'exit');
  try {
    while (!(await answers(port))) {
      if (api.exitCode !== null) throw new Error(`the API ended with code ${api.exitCode} as it started`);
      if (performance.now() - begin > DEADLINE_MS)
        throw new Error(`the API did not answer within ${DEADLINE_MS / 1000} s of its start`);
      await sleep(LOOK_MS);
    }
    return (performance.now() - begin) / 1000;
  } finally {
    api.kill();
    await ended;
    rmSync(ownPort, { force: true });
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthcheck`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}
