/** All files of generated/, made from a contract. */
import type { Contract } from './contract.ts';
import { documentAt } from './document.ts';
import { emitFields } from './emitFields.ts';
import { emitOperations } from './emitOperations.ts';
import { emitMessages, emitPolicies, emitVersions } from './emitTables.ts';
import { emitApiTypes, emitHandlers } from './emitTypes.ts';
import { emitValidators } from './emitValidators.ts';

/** File names with their texts. The same contract gives the same texts. */
export async function generate(contract: Contract): Promise<Map<string, string>> {
  const validators = emitValidators(contract);
  return new Map([
    ['versions.ts', emitVersions(contract)],
    ['policies.ts', emitPolicies(contract)],
    ['messages.ts', emitMessages(contract)],
    ['fields.ts', emitFields(contract)],
    ['operations.ts', emitOperations(contract)],
    ['api.d.ts', await emitApiTypes(contract)],
    ['handlers.ts', emitHandlers(contract)],
    ['validators.js', validators.js],
    ['validators.d.ts', validators.types],
    ['openapi.json', `${JSON.stringify(documentAt(contract, contract.range.until), null, 2)}\n`],
  ]);
}
