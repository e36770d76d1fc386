/** What the configuration files say, before anyone has judged it: entries by section and name, the last one winning. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IniEntry, parseIni } from './ini.ts';

export class Source {
  /** what can't be read, with its place */
  readonly problems: string[] = [];
  private readonly sections = new Map<string, Map<string, IniEntry>>();

  /** Reads the files, then the *.conf files of the directories in the order of their names. */
  constructor(files: readonly string[], dirs: readonly string[]) {
    for (const file of [...files, ...dirs.flatMap((dir) => this.filesIn(dir))]) this.readFile(file);
  }

  entry(section: string, name: string): IniEntry | undefined {
    return this.sections.get(section)?.get(name);
  }

  entries(section: string): Iterable<IniEntry> {
    return this.sections.get(section)?.values() ?? [];
  }

  /** All sections that some file has, also those without entries. */
  all(): ReadonlyMap<string, ReadonlyMap<string, IniEntry>> {
    return this.sections;
  }

  private filesIn(dir: string): string[] {
    try {
      const names = readdirSync(dir).filter((name) => name.endsWith('.conf'));
      return names.sort().map((name) => join(dir, name));
    } catch (error) {
      this.problems.push(`${dir}: ${readFailure(error)}`);
      return [];
    }
  }

  private readFile(file: string): void {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      this.problems.push(`${file}: ${readFailure(error)}`);
      return;
    }
    const parsed = parseIni(text, file);
    for (const fault of parsed.faults) this.problems.push(`${place(fault)}: ${fault.reason}`);
    for (const name of parsed.sections) this.section(name);
    for (const entry of parsed.entries) this.section(entry.section).set(entry.name, entry);
  }

  private section(name: string): Map<string, IniEntry> {
    const found = this.sections.get(name) ?? new Map<string, IniEntry>();
    this.sections.set(name, found);
    return found;
  }
}

export function place({ file, line }: { file: string; line: number }): string {
  return `${file}:${line}`;
}

function readFailure(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' ? 'does not exist' : `can't be read (${code ?? 'unknown reason'})`;
}
