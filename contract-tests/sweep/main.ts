/**
 * The command that sweeps the reads of a server over all microversions.
 */
import { parseArgs } from 'node:util';
import { loadCoverage } from '../replayer/coverage.ts';
import { Wire } from '../replayer/wire.ts';
import { describeResult, resultJson } from './report.ts';
import { CONNECTIONS, sweep } from './sweep.ts';

const help = `Reads everything at all 100 microversions, as admin and as a member, and says where fields or types differ from
the recorded ones. Makes the objects that it reads, in projects of its own.

usage: node contract-tests/sweep/main.ts --base URL [options]

  --base URL         the server, without /v2: http://127.0.0.1:8786
  --format text|json the report (text)
  --help             print this

Reads in recordings/not-covered.json are left out.
Progress goes to standard error, the report to standard output.
Exit status: 0 when all is alike, 1 when something differs, 2 when it could not be run.`;

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      format: { type: 'string', default: 'text' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (!values.base) throw new Error('--base is missing; see --help');
  if (!['text', 'json'].includes(values.format))
    throw new Error(`--format is text or json, not ${values.format}`);
  const wire = new Wire(values.base, CONNECTIONS);
  const result = await sweep(wire, loadCoverage().notCovered, (text) => console.error(text));
  wire.close();
  console.log(values.format === 'json' ? resultJson(wire.base, result) : describeResult(result));
  return result.differences.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
