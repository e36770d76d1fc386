/** What the command takes. */
import { parseArgs } from 'node:util';

export interface Settings {
  /** a Shoal that runs already; null: one is started for the bench */
  shoal: URL | null;
  /** null: not wanted */
  reference: URL | null;
  /** processes of their APIs; empty: those that listen on the port */
  shoalPids: number[];
  referencePids: number[];
  /** of each measurement, its rounds together; a warm-up of a third of it comes on top */
  seconds: number;
  rounds: number;
  connections: number;
  json: boolean;
}

export const help = `Measures Shoal beside the reference: requests per CPU second of the API's processes, statements, time from
POST to available, start, memory.

usage: node bench/main.ts [options]

  --reference URL        the reference, without /v2: http://127.0.0.1:8786, or SHOAL_BENCH_REFERENCE; none: leave it
                         out. When it doesn't answer, figures recorded before stand in for it
  --reference-pids N,…   its API processes; else those that listen on its port
  --shoal URL            a Shoal that runs already (with DEFAULT.show_statements for their counts); else one is
                         started, with the profile recorded, and ended
  --shoal-pids N,…       its API processes; else those that listen on its port
  --seconds N            of each measurement (6)
  --rounds N             in which both sides are measured in turn; the best one counts (3)
  --connections N        requests at a time (8)
  --format text|json     the report (text)
  --help                 print this

Both services have to run on this machine and take tokens of the form user:project:role,role. The bench makes
share types, lifts quotas and makes shares in projects of its own; on the reference the shares of project
be5c03000a stay for the next run. The machine should have nothing else to do.
Progress goes to standard error, the report to standard output.
Exit status: 0 when it could be measured, whether goals are met or not; 2 when it could not.`;

/** undefined: help was asked for. Throws for what isn't understood. */
export function readSettings(args: string[], env: NodeJS.ProcessEnv): Settings | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      reference: { type: 'string', default: env.SHOAL_BENCH_REFERENCE ?? 'http://127.0.0.1:8786' },
      'reference-pids': text,
      shoal: text,
      'shoal-pids': text,
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '8' },
      format: { type: 'string', default: 'text' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  if (!['text', 'json'].includes(values.format))
    throw new Error(`--format is text or json, not ${values.format}`);
  return {
    shoal: values.shoal === undefined ? null : service('--shoal', values.shoal),
    reference: values.reference === 'none' ? null : service('--reference', values.reference),
    shoalPids: pids('--shoal-pids', values['shoal-pids']),
    referencePids: pids('--reference-pids', values['reference-pids']),
    seconds: positive('--seconds', values.seconds),
    rounds: positive('--rounds', values.rounds),
    connections: positive('--connections', values.connections),
    json: values.format === 'json',
  };
}

function service(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' || url.pathname !== '/')
    throw new Error(`${option} is an address like http://127.0.0.1:8786, not ${text}`);
  return url;
}

function pids(option: string, text: string | undefined): number[] {
  return text === undefined ? [] : text.split(',').map((pid) => positive(option, pid));
}

function positive(option: string, text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) === 0) throw new Error(`${option} takes numbers, not ${text}`);
  return Number(text);
}
