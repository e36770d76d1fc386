/** What the three entry points take on the command line. */
import { parseArgs } from 'node:util';

export interface ProcessArguments {
  configFiles: string[];
  configDirs: string[];
  roles: string[];
}

/** Reads the arguments; `--help` prints `usage` and ends. Anything unknown is an error that names it. */
export function readArguments(usage: string, argv = process.argv.slice(2)): ProcessArguments {
  try {
    const { values } = parseArgs({
      args: argv,
      options: {
        'config-file': { type: 'string', multiple: true, default: [] },
        'config-dir': { type: 'string', multiple: true, default: [] },
        roles: { type: 'string', default: 'scheduler,share,data' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    return {
      configFiles: values['config-file'],
      configDirs: values['config-dir'],
      roles: values.roles.split(','),
    };
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}
