/** Writes the OpenAPI document of one microversion. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { documentAt } from './document.ts';
import { ContractError } from './problems.ts';
import { readContract } from './read.ts';
import { minorOf, within } from './windows.ts';

const usage = `Usage: node codegen/openapi.ts [--version 2.37] [--out file]

Writes the API at one microversion as an OpenAPI 3.1 document: its paths, actions and fields alone.

  --version   the microversion; the newest when left out
  --out       the file to write; standard output when left out
  --help      this text
`;

function readArguments() {
  const options = {
    version: { type: 'string' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseArgs({ options });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return null;
  }
}

function main(): number {
  const read = readArguments();
  if (!read) return 2;
  const { values } = read;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const contract = readContract(join(resolve(import.meta.dirname, '..'), 'openapi'));
  const version = values.version === undefined ? contract.range.until : minorOf(values.version);
  if (version === null || !within(contract.range, version)) {
    console.error(`--version must be from 2.${contract.range.since} to 2.${contract.range.until}, like 2.37`);
    return 2;
  }
  const text = `${JSON.stringify(documentAt(contract, version), null, 2)}\n`;
  if (values.out === undefined) process.stdout.write(text);
  else writeFileSync(values.out, text);
  return 0;
}

try {
  process.exitCode = main();
} catch (error) {
  if (!(error instanceof ContractError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
