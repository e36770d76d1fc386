/**
 * The command that replays the recordings against a server.
 */
import { parseArgs } from 'node:util';
import { loadChances } from './chances.ts';
import { loadCoverage, wholeCoverage } from './coverage.ts';
import { loadDepartures } from './departures.ts';
import { freshIdentities, tokenOf } from './identities.ts';
import { loadScenarios, type Scenario, SETUP_SCENARIO, scenarioNames } from './recordings.ts';
import { countOutcomes, describeCounts, describeOutcome, reportJson } from './report.ts';
import { type Outcome, replayScenario } from './runner.ts';
import { loadWaits } from './waits.ts';
import { Wire } from './wire.ts';

const help = `Replays recorded exchanges against a server and says where its answers differ.

usage: node contract-tests/replayer/main.ts --base URL [options]

  --base URL         the server, without /v2: http://127.0.0.1:8786
  --scenario NAME    replay this scenario (again for more); ${SETUP_SCENARIO} runs first in any case
  --only-covered     leave out what recordings/not-covered.json lists, and what hangs on it
  --reuse-types      the share types are there already: leave ${SETUP_SCENARIO} out
  --reference        the server is the reference itself: its own 5xx answers are as expected
  --format text|json the report (text)
  --list             print the names of the scenarios
  --help             print this

The server's database has to be empty, or hold the types of an earlier replay (--reuse-types).
Progress goes to standard error, the report to standard output.
Exit status: 0 when all is alike, 1 when something differs, 2 when it could not be run.`;

interface Settings {
  base: string;
  scenarios: Scenario[];
  onlyCovered: boolean;
  reference: boolean;
  json: boolean;
}

function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      base: { type: 'string' },
      scenario: { type: 'string', multiple: true },
      'only-covered': { type: 'boolean', default: false },
      'reuse-types': { type: 'boolean', default: false },
      reference: { type: 'boolean', default: false },
      format: { type: 'string', default: 'text' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help || values.list) {
    console.log(values.help ? help : scenarioNames().join('\n'));
    return undefined;
  }
  if (!values.base) throw new Error('--base is missing; see --help');
  if (!['text', 'json'].includes(values.format))
    throw new Error(`--format is text or json, not ${values.format}`);
  const scenarios = loadScenarios(values.scenario);
  return {
    base: values.base,
    scenarios: values['reuse-types'] ? scenarios.filter(({ name }) => name !== SETUP_SCENARIO) : scenarios,
    onlyCovered: values['only-covered'],
    reference: values.reference,
    json: values.format === 'json',
  };
}

/** Refuses a database that holds the share types already, unless they are to be used. */
async function checkDatabase(wire: Wire, scenarios: Scenario[]): Promise<void> {
  if (!scenarios.some(({ name }) => name === SETUP_SCENARIO)) return;
  const headers = {
    'X-Auth-Token': tokenOf(freshIdentities().admin!),
    'X-OpenStack-Manila-API-Version': '2.99',
  };
  const { status } = await wire.send({ method: 'GET', path: '/v2/types/default', headers });
  if (status === 200) throw new Error('the database has share types already; empty it, or say --reuse-types');
}

async function replay(settings: Settings): Promise<number> {
  const wire = new Wire(settings.base);
  await checkDatabase(wire, settings.scenarios);
  const coverage = settings.onlyCovered ? loadCoverage() : wholeCoverage;
  const outcomes: Outcome[] = [];
  for (const scenario of settings.scenarios) {
    const start = performance.now();
    const done = await replayScenario(wire, scenario, {
      coverage,
      chances: loadChances(),
      departures: loadDepartures(),
      waits: loadWaits(),
      reference: settings.reference,
      onOutcome: (outcome) => {
        if (outcome.result === 'different' && !settings.json) console.log(describeOutcome(outcome));
      },
    });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.error(`${scenario.name}: ${describeCounts(countOutcomes(done))} (${seconds} s)`);
    outcomes.push(...done);
  }
  wire.close();
  const counts = countOutcomes(outcomes);
  console.log(settings.json ? reportJson(wire.base, outcomes) : describeCounts(counts));
  return counts.different > 0 ? 1 : 0;
}

try {
  const settings = readSettings();
  process.exitCode = settings ? await replay(settings) : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
