/** The command that compares Shoal with the reference, request by request. */
import { parseArgs } from 'node:util';
import { wholeCoverage } from '../replayer/coverage.ts';
import { loadScenario, SETUP_SCENARIO } from '../replayer/recordings.ts';
import { replayScenario } from '../replayer/runner.ts';
import { Wire } from '../replayer/wire.ts';
import { type Stack, startStack } from '../stack.ts';
import { loadExplanations } from './explained.ts';
import { writePage } from './page.ts';
import { foundText, reportJson, summaryText } from './report.ts';
import { compare, type Found } from './run.ts';

const help = `Sends requests drawn from the contract, valid and broken, at random versions and as admin, member, another project's
member and reader, to Shoal and to the reference, and says where their answers differ in status or shape.

usage: node contract-tests/compare/main.ts [options]

  --reference URL    the reference, without /v2 (http://127.0.0.1:8786), with the share types of the replayer's
                     first scenario
  --shoal URL        a Shoal that runs; else one is started, of profile recorded
  --seed N           draws the same requests again (else by the clock; the report names it)
  --runs N           requests to each operation (10)
  --operation ID     this operation alone
  --format text|json the report (text)
  --document         write the tables of docs/differences.md anew, and send nothing
  --help             print this

Both get things in projects of their own, which stay there.
Progress goes to standard error, the report to standard output.
Exit status: 0 when docs/differences.md explains all differences, 1 when not, or not all could be asked, 2 when it could not be run.`;

const CONNECTIONS = 8;

try {
  const settings = readSettings();
  process.exitCode = settings ? await run(settings) : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

interface Settings {
  reference: string;
  shoal: string | undefined;
  seed: number;
  runs: number;
  operation: string | undefined;
  json: boolean;
}

function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      reference: { type: 'string', default: 'http://127.0.0.1:8786' },
      shoal: { type: 'string' },
      seed: { type: 'string' },
      runs: { type: 'string', default: '10' },
      operation: { type: 'string' },
      format: { type: 'string', default: 'text' },
      document: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.document) {
    writePage();
    return undefined;
  }
  if (values.help) {
    console.log(help);
    return undefined;
  }
  if (!['text', 'json'].includes(values.format))
    throw new Error(`--format is text or json, not ${values.format}`);
  return {
    reference: values.reference,
    shoal: values.shoal,
    seed: wholeNumber('--seed', values.seed ?? String(Date.now() % 2 ** 31)),
    runs: wholeNumber('--runs', values.runs),
    operation: values.operation,
    json: values.format === 'json',
  };
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${option} is a whole number, not ${text}`);
  return Number(text);
}

async function run({ json, ...settings }: Settings): Promise<number> {
  const progress = (text: string) => console.error(text);
  const reference = new Wire(settings.reference, CONNECTIONS);
  await checkReference(reference);
  if (!settings.shoal) progress('starting a Shoal');
  const stack: Stack | undefined = settings.shoal ? undefined : await startStack('recorded');
  const shoal = new Wire(settings.shoal ?? stack!.base, CONNECTIONS);
  try {
    await makeTypes(shoal);
    const { seed } = settings;
    const explanations = loadExplanations();
    const onFound = (found: Found) => {
      if (!json && !found.explanation) console.log(foundText(found));
    };
    const comparison = await compare({ ...settings, reference, shoal, explanations, progress, onFound });
    console.log(json ? reportJson(comparison, seed) : summaryText(comparison, seed));
    const left = comparison.found.some(({ explanation }) => !explanation);
    return left || comparison.failed.length > 0 ? 1 : 0;
  } finally {
    shoal.close();
    reference.close();
    await stack?.stop();
  }
}

async function checkReference(wire: Wire): Promise<void> {
  try {
    await wire.send({ method: 'GET', path: '/', headers: {} });
  } catch {
    throw new Error(`no reference answers at ${wire.base}: name one by --reference`);
  }
}

/** The types of the replayer's first scenario, unless they are there. */
async function makeTypes(wire: Wire): Promise<void> {
  const { status } = await wire.send({
    method: 'GET',
    path: '/v2/types/default',
    headers: { 'X-Auth-Token': 'u1:ad01:admin', 'X-OpenStack-Manila-API-Version': '2.99' },
  });
  if (status === 200) return;
  await replayScenario(wire, loadScenario(SETUP_SCENARIO), {
    coverage: wholeCoverage,
    chances: {},
    departures: {},
    waits: {},
  });
}
