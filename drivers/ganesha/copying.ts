/** Files from one directory of this machine to another, by rsync. */
import { run } from './command.ts';

/**
 * Makes the files of `to` those of `from`, with all that belongs to them. What is the same stays untouched, so an
 * interrupted copy goes on where it was. A file that differs is written anew and takes the other's place whole.
 */
export async function copyFiles(from: string, to: string, signal: AbortSignal): Promise<void> {
  const whole = ['-aHAXS', '--numeric-ids', '--delete', '--whole-file', '--quiet'];
  await run('rsync', [...whole, '--', `${from}/`, `${to}/`], { signal });
}
