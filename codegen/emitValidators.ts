/** The validators of bodies and queries, as one module that imports nothing. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { type Contract, handled } from './contract.ts';
import { header } from './printing.ts';
import { bodyValidators, queryValidators, type Validator } from './validation.ts';

const allValidators = (contract: Contract): Validator[] =>
  handled(contract).flatMap((operation) => [
    ...bodyValidators(contract, operation),
    ...queryValidators(contract, operation),
  ]);

/** The only helper that the generated code needs; ajv would load it from its own package. */
const lengthHelper = `/** Characters, not UTF-16 units, as the API counts them. */
function ucs2length(text) {
  let length = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--;
      i++;
    }
  }
  return length;
}
`;

export function emitValidators(contract: Contract): { js: string; types: string } {
  const validators = allValidators(contract);
  // Alike schemas share one function: the first of them has it, the others are other names for it.
  const first = new Map<string, string>();
  for (const { name, schema } of validators) {
    const text = JSON.stringify(schema);
    if (!first.has(text)) first.set(text, name);
  }
  const originals = validators.filter(({ name, schema }) => first.get(JSON.stringify(schema)) === name);
  const aliases = validators
    .filter((validator) => !originals.includes(validator))
    .map(({ name, schema }) => `export const ${name} = ${first.get(JSON.stringify(schema))};`);
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    allErrors: false,
    coerceTypes: false,
    messages: true,
    validateFormats: false,
    code: { source: true, esm: true, lines: true, optimize: true },
  });
  for (const { name, schema } of originals) ajv.addSchema({ ...schema, $id: name });
  const code = (standalone as unknown as { default: typeof standalone.default })
    .default(ajv, Object.fromEntries(originals.map(({ name }) => [name, name])))
    .replace('"use strict";\n', '')
    .replaceAll(/require\("ajv\/dist\/runtime\/ucs2length"\)\.default/g, 'ucs2length');
  if (code.includes('require('))
    throw new Error(`validators would import ${/require\([^)]*\)/.exec(code)?.[0]}`);
  const head = header('Validators of bodies and queries; operations.ts says which stands when.', 'openapi/');
  return {
    js: `${head}/* eslint-disable */\n${lengthHelper}\n${code}\n${aliases.join('\n')}\n`,
    types: `${head}
export interface ValidationError {
  instancePath: string;
  schemaPath: string;
  keyword: string;
  params: Record<string, unknown>;
  message?: string;
}

/** Whether the data is as it must be; if not, what is wrong stands in \`errors\` until the next call. */
export interface Validator {
  (data: unknown): boolean;
  errors?: ValidationError[] | null;
}

${validators.map(({ name }) => `export const ${name}: Validator;`).join('\n')}
`,
  };
}
