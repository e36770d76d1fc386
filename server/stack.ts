/** The `stack` command: a whole installation in the foreground, until Ctrl-C. */
import { parseArgs } from 'node:util';
import { profiles } from './local/profiles/index.ts';
import type { ConfigSections } from './local/profiles/profile.ts';
import { type Stack, startStack } from './local/stack.ts';

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
  profile: string;
  port: string;
  state?: string;
  set: string[];
}

await main(readArguments());

async function main(args: Arguments): Promise<void> {
  const say = (line: string) => process.stderr.write(`shoal: ${line}\n`);
  const starting = new AbortController();
  let stack: Stack | null = null;
  let ending = false;
  const end = () => {
    if (ending) process.exit(1);
    ending = true;
    say('stopping');
    if (stack) stack.stop().then(() => process.exit(0), fail);
    else starting.abort(new Error('interrupted'));
  };
  const fail = (error: unknown) => {
    say((error as Error).message);
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  try {
    stack = await startStack({
      profile: profiles[args.profile]!,
      port: Number(args.port),
      stateDirectory: args.state ?? (profiles[args.profile]!.throwaway ? undefined : '.shoal'),
      overrides: overrides(args.set),
      signal: starting.signal,
      say,
    });
  } catch (error) {
    fail(error);
    return;
  }
  if (ending) await stack.stop().then(() => process.exit(0), fail);
  console.log(`shoal: ready on ${stack.url}`);
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'recorded' },
        port: { type: 'string', default: '8786' },
        state: { type: 'string' },
        set: { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    if (!Object.hasOwn(profiles, values.profile)) throw new Error(`there is no profile ${values.profile}`);
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65535)
      throw new Error(`${values.port} is not a port`);
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

function overrides(settings: readonly string[]): ConfigSections {
  const sections: Record<string, Record<string, string>> = {};
  for (const setting of settings) {
    const [, section, option, value] = /^(\w+)\.(\w+)=(.*)$/.exec(setting) ?? [];
    if (section === undefined || option === undefined || value === undefined) {
      process.stderr.write(`${setting} is not of the form SECTION.OPTION=VALUE\n`);
      process.exit(2);
    }
    sections[section] = { ...sections[section], [option]: value };
  }
  return sections;
}
