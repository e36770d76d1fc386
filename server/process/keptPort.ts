/** The port that a service had the last time, in a file of its state directory. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readPort } from '../local/ports.ts';

/** The port that was kept; undefined when there is none that can be read. */
export function keptPort(file: string): number | undefined {
  try {
    return readPort(readFileSync(file, 'utf8').trim()) || undefined;
  } catch {
    return undefined;
  }
}

export function keepPort(file: string, port: number): void {
  writeFileSync(file, `${port}\n`);
}
