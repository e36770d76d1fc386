/**
 * Runs the stages one after the other and ends with one line: `N passed, N failed`. A stage of a tool counts as
 * one, a stage of jest by its tests; what can't run at all counts as a failure.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { jestStages, type Stage, staticStages } from './stages.ts';

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** The parts of jest's report that are used here. */
interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

const root = resolve(import.meta.dirname, '..');
const reports = join(root, '.shoal', 'test');

const usage = `Usage: node scripts/test.ts [--static] [STAGE…]

Runs all stages, or those named, and ends with one line: N passed, N failed.

  --static   only those that run no tests
  --help     this text

${[...staticStages, ...jestStages].map(({ name, does }) => `  ${name.padEnd(10)} ${does}`).join('\n')}
`;

process.exitCode = await main(readStages());

/** The stages that the command line asks for; ends the process when it asks for something else. */
function readStages(): readonly Stage[] {
  try {
    const { values, positionals: names } = parseArgs({
      options: { static: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const all = values.static ? staticStages : [...staticStages, ...jestStages];
    const unknown = names.filter((name) => !all.some((stage) => stage.name === name));
    if (unknown.length > 0) throw new Error(`there is no stage ${unknown.join(', ')}`);
    return names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

async function main(stages: readonly Stage[]): Promise<number> {
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const total: Count = { passed: 0, failed: 0, skipped: 0 };
  for (const stage of stages) {
    const start = performance.now();
    say(`· ${stage.name}: ${stage.does}`);
    const count = staticStages.includes(stage) ? await runTool(stage) : await runJest(stage);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    say(`${count.failed === 0 ? '✓' : '✗'} ${stage.name}: ${text(count)} (${seconds} s)`);
    total.passed += count.passed;
    total.failed += count.failed;
    total.skipped += count.skipped;
  }
  if (total.skipped > 0) say(`${total.skipped} skipped, see above`);
  console.log(text({ ...total, skipped: 0 }));
  return total.failed === 0 ? 0 : 1;
}

/** A tool's output is only of interest when it fails. */
async function runTool(stage: Stage): Promise<Count> {
  const { passed, output } = await run(stage, stage.args, 'kept');
  if (!passed) say(output.trimEnd());
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

async function runJest(stage: Stage): Promise<Count> {
  const file = join(reports, `${stage.name}.json`);
  const { passed } = await run(stage, [...stage.args, '--json', `--outputFile=${file}`], 'shown');
  let report: JestReport;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    say(`${stage.name}: jest ended without a report`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  for (const { assertionResults } of report.testResults) {
    for (const { status, fullName } of assertionResults)
      if (status === 'pending' || status === 'todo') say(`  skipped: ${fullName}`);
  }
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return {
    passed: report.numPassedTests,
    // Jest can fail beyond its tests, in a set-up or at its end.
    failed: failed === 0 && !passed ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Runs Node in a process group of its own, so that a stage that hangs can be ended with all it started. */
function run(
  stage: Stage,
  args: readonly string[],
  output: 'kept' | 'shown',
): Promise<{ passed: boolean; output: string }> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    // Jest prints its report on standard output too, and what people read on standard error.
    stdio: ['ignore', output === 'kept' ? 'pipe' : 'ignore', output === 'kept' ? 'pipe' : 'inherit'],
    env: { ...process.env, FORCE_COLOR: '0', NO_COLOR: '1' },
  });
  const kept: Buffer[] = [];
  child.stdout?.on('data', (data: Buffer) => kept.push(data));
  child.stderr?.on('data', (data: Buffer) => kept.push(data));
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const interrupted = () => {
    endGroup();
    process.exit(130);
  };
  const limit = setTimeout(() => {
    say(`${stage.name}: given up after ${stage.minutes} minutes`);
    endGroup();
  }, stage.minutes * 60_000);
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(limit);
      process.off('SIGINT', interrupted);
      process.off('SIGTERM', interrupted);
      resolve({ passed: code === 0, output: Buffer.concat(kept).toString() });
    });
  });
}

function text({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
