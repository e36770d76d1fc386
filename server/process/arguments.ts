/** What the API and the workers take on the command line. */
import { parseArgs } from 'node:util';

/** Where the configuration is. */
export interface ConfigSources {
  configFiles: string[];
  configDirs: string[];
}

const knownRoles = ['scheduler', 'share', 'data'] as const;
export type Role = (typeof knownRoles)[number];

const options = {
  'config-file': { type: 'string', multiple: true, default: [] as string[] },
  'config-dir': { type: 'string', multiple: true, default: [] as string[] },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Reads `--config-file` and `--config-dir`; ends the process as `commandLine` does. */
export function readArguments(usage: string, args = process.argv.slice(2)): ConfigSources {
  return commandLine(usage, () => parseArgs({ args, options }), sourcesOf);
}

/** The same, and `--roles`: all of them when not said. */
export function readWorkerArguments(
  usage: string,
  args = process.argv.slice(2),
): ConfigSources & { roles: ReadonlySet<Role> } {
  const roles = { type: 'string', default: knownRoles.join(',') } as const;
  return commandLine(
    usage,
    () => parseArgs({ args, options: { ...options, roles } }),
    (values) => ({ ...sourcesOf(values), roles: readRoles(values.roles) }),
  );
}

/**
 * Reads a command line: `parse` takes it apart, `read` makes of it what the program wants. `--help` prints `usage` and
 * ends the process with 0; what either of them throws is printed above the usage, on standard error, and ends it
 * with 2.
 */
export function commandLine<V extends { help: boolean }, T>(
  usage: string,
  parse: () => { values: V },
  read: (values: V) => T,
): T {
  try {
    const { values } = parse();
    if (values.help) {
      process.stdout.write(`${usage.trimEnd()}\n`);
      process.exit(0);
    }
    return read(values);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage.trimEnd()}\n`);
    process.exit(2);
  }
}

function sourcesOf(values: { 'config-file': string[]; 'config-dir': string[] }): ConfigSources {
  return { configFiles: values['config-file'], configDirs: values['config-dir'] };
}

function readRoles(text: string): ReadonlySet<Role> {
  const names = text.split(',').map((name) => name.trim());
  return new Set(
    names.map((name) => {
      const role = knownRoles.find((known) => known === name);
      if (!role) throw new Error(`--roles names '${name}', which is none of ${knownRoles.join(', ')}`);
      return role;
    }),
  );
}
