/** The `stack` command: a whole installation in the foreground, until Ctrl-C. */
import { parseArgs } from 'node:util';
import { runInForeground, say } from './local/foreground.ts';
import { readPort } from './local/ports.ts';
import { profiles } from './local/profiles/index.ts';
import type { ConfigSections, Profile } from './local/profiles/profile.ts';
import { startStack } from './local/stack.ts';
import { commandLine } from './process/arguments.ts';

const usage = `Usage: node server/stack.ts [--profile NAME] [--port PORT] [--state DIR] [--set SECTION.OPTION=VALUE]…

Starts MariaDB, Redis, the API and its workers on the loopback address, and prints
  shoal: ready on http://127.0.0.1:PORT/v2
once they serve. Ctrl-C ends all of it.

  --profile NAME   ${Object.keys(profiles).join(' or ')}; recorded when not said
  --port PORT      8786 when not said; 0 for a free one
  --state DIR      data, logs, shoal.conf and pids.json; recorded: a temporary one when not said, local: .shoal
  --set S.O=VALUE  an option over the profile's, such as quota.shares=10
`;

interface Arguments {
  profile: Profile;
  port: number;
  stateDirectory: string | undefined;
  overrides: ConfigSections;
}

const args = readArguments();
await runInForeground(
  (signal) => startStack({ ...args, signal, say }),
  (stack) => console.log(`shoal: ready on ${stack.url}`),
);

function readArguments(): Arguments {
  const options = {
    profile: { type: 'string', default: 'recorded' },
    port: { type: 'string', default: '8786' },
    state: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] as string[] },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  return commandLine(
    usage,
    () => parseArgs({ options }),
    (values) => {
      const profile = Object.hasOwn(profiles, values.profile) ? profiles[values.profile] : undefined;
      if (!profile) throw new Error(`there is no profile ${values.profile}`);
      const port = readPort(values.port);
      const stateDirectory = values.state ?? (profile.throwaway ? undefined : '.shoal');
      return { profile, port, stateDirectory, overrides: readOverrides(values.set) };
    },
  );
}

function readOverrides(settings: readonly string[]): ConfigSections {
  const sections: Record<string, Record<string, string>> = {};
  for (const setting of settings) {
    const [, section, option, value] = /^(\w+)\.(\w+)=(.*)$/s.exec(setting) ?? [];
    if (section === undefined || option === undefined || value === undefined)
      throw new Error(`${setting} is not of the form SECTION.OPTION=VALUE`);
    sections[section] = { ...sections[section], [option]: value };
  }
  return sections;
}
