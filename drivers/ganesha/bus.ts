/** Ganesha's D-Bus interface for exports, on a private bus, through dbus-send. */
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DriverError } from '../driver.ts';
import { run } from './command.ts';

/** A Unix socket's path has to fit into 108 bytes: from a deep directory it moves to a short one. */
export function busSocket(stateDirectory: string): string {
  const near = join(stateDirectory, 'bus.sock');
  if (Buffer.byteLength(near) < 100) return near;
  const name = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 16);
  return join(tmpdir(), `shoal-bus-${name}`, 'bus.sock');
}

/** The directory of the socket, for this user alone. */
export async function prepareSocket(socket: string): Promise<void> {
  const directory = dirname(socket);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== process.getuid!())
    throw new DriverError('failed', `${directory} belongs to somebody else`);
  await chmod(directory, 0o700);
}

/** Only the user that runs it may connect: that is what a bus does unless told otherwise. */
export function busConfiguration(socket: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>${busAddress(socket).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
}

/** Bytes outside the address grammar are escaped as it asks. */
export function busAddress(socket: string): string {
  const escaped = Buffer.from(socket)
    .toString('latin1')
    .replace(/[^-0-9A-Za-z_/.\\]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `unix:path=${escaped}`;
}

export type BusMethod = 'ShowExports' | 'AddExport' | 'UpdateExport' | 'RemoveExport';

/** Arguments as dbus-send takes them: `string:…`, `uint16:…`. Answers what it prints. */
export async function callBus(
  socket: string,
  method: BusMethod,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const answer = await run(
    'dbus-send',
    [
      `--bus=${busAddress(socket)}`,
      '--print-reply',
      '--reply-timeout=20000',
      '--dest=org.ganesha.nfsd',
      '/org/ganesha/nfsd/ExportMgr',
      `org.ganesha.nfsd.exportmgr.${method}`,
      ...args,
    ],
    { signal },
  );
  // it may call an export updated and yet have left out the clients that it couldn't read
  if (/Errors? found/.test(answer)) throw new DriverError('failed', `${method}: ${answer.trim()}`);
  return answer;
}
