/**
 * The configuration: read from INI files once, at start, checked whole, and passed in. Later files win over earlier
 * ones. Options keep the field's names: `config.quota.shares`, `config.backends.alpha.replication_domain`.
 */
import { backendOptions, networkOptions } from './backendOptions.ts';
import type { Option, OptionTable, Values } from './option.ts';
import { sections } from './options.ts';
import { place, Source } from './source.ts';
import { substitute } from './substitute.ts';
import { isDriverOption, unknownOptions } from './unknown.ts';

type Sections = { readonly [S in keyof typeof sections]: Values<(typeof sections)[S]> };
type BackendValues = Values<typeof backendOptions>;

/** A back end's options; its driver, its name and whether it handles share servers are always there. */
export type BackendConfig = Omit<
  BackendValues,
  'share_driver' | 'share_backend_name' | 'driver_handles_share_servers'
> & {
  readonly share_driver: NonNullable<BackendValues['share_driver']>;
  readonly share_backend_name: string;
  readonly driver_handles_share_servers: boolean;
  /** the section as text, with what it inherits: what a driver is made from */
  readonly options: Readonly<Record<string, string>>;
};

export type NetworkConfig = Values<typeof networkOptions>;

export type Config = Sections & {
  /** by the names in enabled_share_backends */
  readonly backends: Readonly<Record<string, BackendConfig>>;
  /** by section: what network_config_group and admin_network_config_group name, else the back end's own */
  readonly networks: Readonly<Record<string, NetworkConfig>>;
};

/** Files that are read when the command line names none, where they exist. */
export const usualFiles: readonly string[] = ['/etc/shoal/shoal.conf'];

/** All that is wrong with a configuration: a line each with file, line, section, option and what was expected. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the configuration can't be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

interface LoadOptions {
  /** directories whose *.conf files are read after the files, in the order of their names */
  dirs?: readonly string[];
  /** told, a line each, of unknown options and of those without use here */
  warn?: (message: string) => void;
}

/** Reads and checks the files. Throws ConfigError with everything that is wrong, secrets left out. */
export function loadConfig(
  files: readonly string[],
  { dirs = [], warn = () => {} }: LoadOptions = {},
): Config {
  const source = new Source(files, dirs);
  const config = new Reader(source).read();
  if (source.problems.length > 0) throw new ConfigError(source.problems);
  for (const message of unknownOptions(source, config)) warn(message);
  return config;
}

/** Turns entries into values; problems go to the source's list, so that all are reported at once. */
class Reader {
  private readonly source: Source;

  constructor(source: Source) {
    this.source = source;
  }

  read(): Config {
    const values = Object.fromEntries(
      Object.entries(sections).map(([section, table]) => [section, this.section(section, table)]),
    ) as Sections;
    const backends: Record<string, BackendConfig> = {};
    const networks: Record<string, NetworkConfig> = {};
    for (const name of new Set(values.DEFAULT.enabled_share_backends)) {
      if (!this.isBackend(name)) continue;
      const backend = this.backend(name);
      backends[name] = backend;
      const groups = [backend.network_config_group ?? name, backend.admin_network_config_group];
      for (const group of groups) if (group !== null) networks[group] ??= this.section(group, networkOptions);
    }
    this.checkTogether(values);
    return Object.freeze({ ...values, backends: Object.freeze(backends), networks: Object.freeze(networks) });
  }

  /** The values of a table of options; what the section doesn't set, `heirTo` may. */
  private section<T extends OptionTable>(section: string, table: T, heirTo?: string): Values<T> {
    const values: Record<string, unknown> = {};
    for (const [name, option] of Object.entries(table)) {
      values[name] = this.value(section, name, option, heirTo);
    }
    return Object.freeze(values) as Values<T>;
  }

  private value(section: string, name: string, option: Option<unknown>, heirTo?: string): unknown {
    const entry = this.source.entry(section, name) ?? (heirTo && this.source.entry(heirTo, name));
    if (!entry) return this.fallback(option);
    try {
      return option.read(this.substituted(entry.value));
    } catch (error) {
      const found = option.secret ? (error as Error).message : `found ${JSON.stringify(entry.value)}`;
      this.problem(entry, entry.section, `${name} has to be ${option.expects}; ${found}`);
      return this.fallback(option);
    }
  }

  private fallback(option: Option<unknown>): unknown {
    const value = typeof option.fallback === 'function' ? option.fallback() : option.fallback;
    return typeof value === 'string' ? this.substituted(value) : value;
  }

  private substituted(text: string): string {
    return substitute(text, (section, name) => {
      const entry = this.source.entry(section, name);
      if (entry) return entry.value;
      const option: Option<unknown> | undefined = (sections as Record<string, OptionTable>)[section]?.[name];
      const value = option && (typeof option.fallback === 'function' ? option.fallback() : option.fallback);
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    });
  }

  private isBackend(name: string): boolean {
    const entry = this.source.entry('DEFAULT', 'enabled_share_backends')!;
    const reason =
      name in sections
        ? "is not a back end's"
        : this.source.all().has(name)
          ? null
          : 'is in none of the files';
    if (reason) this.problem(entry, 'DEFAULT', `enabled_share_backends: the section [${name}] ${reason}`);
    return reason === null;
  }

  private backend(name: string): BackendConfig {
    const values = this.section(name, backendOptions, 'DEFAULT');
    const enabled = this.source.entry('DEFAULT', 'enabled_share_backends')!;
    for (const option of ['share_driver', 'driver_handles_share_servers'] as const) {
      const isSet = this.source.entry(name, option) ?? this.source.entry('DEFAULT', option);
      if (!isSet) this.problem(enabled, name, `${option} has to be set: ${backendOptions[option].help}`);
    }
    const share_backend_name = values.share_backend_name ?? name;
    const options = this.backendTexts(name, values.share_driver);
    return Object.freeze({ ...values, share_backend_name, options }) as BackendConfig;
  }

  private backendTexts(backend: string, driver: string | null): Readonly<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const { name, value } of this.source.entries('DEFAULT')) {
      if (name in backendOptions || isDriverOption(name, driver)) texts[name] = this.substituted(value);
    }
    for (const { name, value } of this.source.entries(backend)) texts[name] = this.substituted(value);
    return Object.freeze(texts);
  }

  /** What no option can tell alone. */
  private checkTogether({ DEFAULT }: Sections): void {
    const loopback = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(DEFAULT.osapi_share_listen);
    if (DEFAULT.auth_strategy === 'noauth' && !loopback && !DEFAULT.noauth_allow_remote) {
      this.problem(
        this.source.entry('DEFAULT', 'osapi_share_listen')!,
        'DEFAULT',
        `auth_strategy = noauth trusts every caller, and osapi_share_listen = ${DEFAULT.osapi_share_listen} ` +
          'lets other machines call: listen on 127.0.0.1, or set noauth_allow_remote = true',
      );
    }
  }

  private problem(at: { file: string; line: number }, section: string, what: string): void {
    this.source.problems.push(`${place(at)}: [${section}] ${what}`);
  }
}
