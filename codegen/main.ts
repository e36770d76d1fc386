/** Writes generated/ from openapi/, or checks that it is up to date. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { generate } from './generate.ts';
import { ContractError } from './problems.ts';
import { readContract } from './read.ts';

const usage = `Usage: node codegen/main.ts [--check]

Writes generated/ from openapi/.

  --check   write nothing; name the files that are out of date and exit with 1
  --help    this text
`;

const root = resolve(import.meta.dirname, '..');
const target = join(root, 'generated');

const current = (name: string): string | null => {
  try {
    return readFileSync(join(target, name), 'utf8');
  } catch {
    return null;
  }
};

/** Files that are missing, differ, or that nothing makes any more. */
function stale(files: ReadonlyMap<string, string>): string[] {
  const changed = [...files].filter(([name, text]) => current(name) !== text).map(([name]) => name);
  const orphans = readdirSync(target).filter((name) => !files.has(name));
  return [...changed, ...orphans].sort();
}

function readArguments() {
  const options = { check: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseArgs({ options });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return null;
  }
}

async function main(): Promise<number> {
  const read = readArguments();
  if (!read) return 2;
  const { values } = read;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  mkdirSync(target, { recursive: true });
  const files = await generate(readContract(join(root, 'openapi')));
  const names = stale(files);
  if (values.check) {
    for (const name of names) console.error(`generated/${name} is out of date: run \`make generate\``);
    return names.length > 0 ? 1 : 0;
  }
  for (const name of names) {
    const text = files.get(name);
    if (text === undefined) rmSync(join(target, name));
    else writeFileSync(join(target, name), text);
    console.log(`generated/${name}`);
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ContractError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
