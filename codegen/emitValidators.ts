/** The validators of bodies and queries, as one module that imports nothing. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { Contract, JsonSchema } from './contract.ts';
import { header } from './printing.ts';
import { bodyValidators, queryValidators, type Validator } from './validation.ts';

const allValidators = (contract: Contract): Validator[] =>
  contract.operations.flatMap((operation) => [
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
  const schemas = new Map<string, JsonSchema>();
  const ids = new Map<string, string>();
  const exported: Record<string, string> = {};
  for (const { name, schema } of allValidators(contract)) {
    const text = JSON.stringify(schema);
    if (!ids.has(text)) {
      ids.set(text, name);
      schemas.set(name, schema);
    }
    exported[name] = ids.get(text) as string;
  }
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
  for (const [name, schema] of schemas) ajv.addSchema({ ...schema, $id: name });
  const code = (standalone as unknown as { default: typeof standalone.default })
    .default(ajv, exported)
    .replaceAll(/require\("ajv\/dist\/runtime\/ucs2length"\)\.default/g, 'ucs2length');
  if (code.includes('require('))
    throw new Error(`validators would import ${/require\([^)]*\)/.exec(code)?.[0]}`);
  const head = header('Validators of bodies and queries; operations.ts says which stands when.', 'openapi/');
  const names = Object.keys(exported);
  return {
    js: `${head}/* eslint-disable */\n${lengthHelper}\n${code}\n`,
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

${names.map((name) => `export const ${name}: Validator;`).join('\n')}
`,
  };
}
