/** What the system lets this process do. */
import { readFile } from 'node:fs/promises';

/** Ganesha finds files by their handles, which passes by the permissions of the directories above them. */
const CAP_DAC_READ_SEARCH = 2n;

export async function canOpenByHandle(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8');
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> CAP_DAC_READ_SEARCH) & 1n) === 1n;
}
