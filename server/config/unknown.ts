/** What stands in the files and means nothing: most often a misspelling, sometimes a part that Shoal doesn't have. */
import { backendOptions, networkOptions } from './backendOptions.ts';
import { hasNoEffect, isIgnored } from './ignored.ts';
import type { OptionTable } from './option.ts';
import { sections } from './options.ts';
import { place, type Source } from './source.ts';
import { nearest } from './spelling.ts';

interface Readers {
  readonly backends: Readonly<Record<string, { readonly share_driver: string }>>;
  readonly networks: Readonly<Record<string, unknown>>;
}

/** Options named after a driver are read by that driver. */
export function isDriverOption(name: string, driver: string | null): boolean {
  return driver !== null && name.startsWith(`${driver}_`);
}

/** A line for each entry that changes nothing: what no option reads, with the name that was perhaps meant. */
export function unknownOptions(source: Source, { backends, networks }: Readers): string[] {
  const drivers = Object.values(backends).map((backend) => backend.share_driver);
  const messages: string[] = [];
  for (const [section, entries] of source.all()) {
    const known = [
      ...Object.keys((sections as Record<string, OptionTable>)[section] ?? {}),
      ...(section in backends ? Object.keys(backendOptions) : []),
      ...(section in networks ? Object.keys(networkOptions) : []),
    ];
    // A back end that isn't enabled may stand there for another machine's worker.
    if (known.length === 0 && entries.has('share_driver')) continue;
    const readBy = section === 'DEFAULT' ? drivers : [backends[section]?.share_driver ?? null];
    for (const { name, file, line } of entries.values()) {
      if (known.includes(name) && hasNoEffect(section, name, section in backends)) {
        messages.push(`${place({ file, line })}: [${section}] ${name} has no effect yet`);
        continue;
      }
      if (known.includes(name) || readBy.some((driver) => isDriverOption(name, driver))) continue;
      const reason = isIgnored(section, name)
        ? `[${section}] ${name} has no use here`
        : known.length > 0
          ? `[${section}] ${name} is not an option${meant(name, known)}`
          : `[${section}] is not a section that anything reads${meant(section, Object.keys(sections))}`;
      messages.push(`${place({ file, line })}: ${reason}`);
    }
  }
  return messages;
}

function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near ? `; is ${near} meant?` : '';
}
