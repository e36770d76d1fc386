/** A profile: what a stack consists of beyond the processes that every one has. */

type Value = string | number | boolean | readonly string[];

/** Options by section, as they go into the configuration file. */
export type ConfigSections = Readonly<Record<string, Readonly<Record<string, Value>>>>;

export interface Profile {
  name: string;
  /** starts empty each time, and commits needn't survive a crash of the machine */
  throwaway: boolean;
  config: ConfigSections;
  /** options that depend on the machine and the stack's directory, asked for at every start; throws what is missing */
  prepare?(directory: string): Promise<ConfigSections>;
}

/** The text of a configuration file; later sections win over earlier ones, option by option. */
export function configText(heading: string, ...layers: ConfigSections[]): string {
  const merged = new Map<string, Map<string, Value>>();
  for (const layer of layers) {
    for (const [section, options] of Object.entries(layer)) {
      const into = merged.get(section) ?? new Map<string, Value>();
      for (const [name, value] of Object.entries(options)) into.set(name, value);
      merged.set(section, into);
    }
  }
  const sections = [...merged].map(([section, options]) =>
    [`[${section}]`, ...[...options].map(([name, value]) => `${name} = ${valueText(value)}`), ''].join('\n'),
  );
  return [`# ${heading}`, '', ...sections].join('\n');
}

function valueText(value: Value): string {
  const text = Array.isArray(value) ? value.join(',') : String(value);
  if (/[\r\n]/.test(text)) throw new Error('a value in a configuration file has no line breaks');
  const escaped = text.replaceAll('$', '$$$$');
  return /^\s|\s$|^["']/.test(escaped) ? `"${escaped}"` : escaped;
}
