/** The command that records: it sends a script's requests to the reference and writes what it answers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Wire } from '../replayer/wire.ts';
import { record, type Step } from './record.ts';
import { refusals } from './refusals.ts';
import { successes } from './successes.ts';

const recordings = join(import.meta.dirname, '..', 'recordings');

const help = `Sends a script's requests to the reference and writes its answers down as a scenario to be replayed.

usage: node contract-tests/recorder/main.ts --base URL SCENARIO

  --base URL   the reference, without /v2: http://127.0.0.1:8786
  --dry        print the script and send nothing
  --help       print this

SCENARIO is refusals, whose script is made from the contract, or successes. The answers go to recordings/exchanges/SCENARIO.jsonl; name it in recordings/order.json for it to be replayed. The share
types of the replayer's first scenario have to be there.
Progress goes to standard error. Exit status: 0 when all was recorded, 2 when it could not be.`;

try {
  const { values, positionals } = parseArgs({
    options: {
      base: { type: 'string' },
      dry: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  });
  if (values.help) console.log(help);
  else await main(values, positionals);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}

async function main({ base, dry }: { base?: string; dry: boolean }, names: string[]): Promise<void> {
  const [name] = names;
  if (names.length !== 1 || !name) throw new Error('one scenario has to be named; see --help');
  const steps = scriptOf(name);
  if (dry) {
    console.log(steps.map((step) => JSON.stringify(step)).join('\n'));
    return;
  }
  if (!base) throw new Error('--base is missing; see --help');
  const wire = new Wire(base);
  const exchanges = await record(wire, steps, ({ n, request, response }) =>
    console.error(
      `${n}/${steps.length} ${request.as ?? '-'} ${request.method} ${request.path}: ${response.status}`,
    ),
  );
  wire.close();
  const lines = exchanges.map((exchange) => JSON.stringify(exchange)).join('\n');
  writeFileSync(join(recordings, 'exchanges', `${name}.jsonl`), `${lines}\n`);
}

function scriptOf(name: string): Step[] {
  if (name === 'refusals') return refusals();
  if (name === 'successes') return [...successes];
  throw new Error(`there is no script ${name}: there are refusals and successes`);
}
