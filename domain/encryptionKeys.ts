/** Encryption keys of users: references of keys in the key manager, which back ends encrypt shares with. */
import { fault } from './faults.ts';
import { handlesShareServers } from './shareTypes.ts';

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/**
 * The reference as it is kept; null when none is given. Throws invalidInput when the type has no encryption, or no
 * share servers, which is where keys are used.
 */
export function encryptionKeyRef(
  type: { name: string; extra_specs: Readonly<Record<string, string | null>> } | null,
  asked: string | null | undefined,
): string | null {
  if (!asked) return null;
  const specs = type?.extra_specs ?? {};
  const refuse = (reason: string) => {
    throw fault('invalidInput', { reason });
  };
  if (!specs.encryption_support)
    refuse(
      `share type ${type?.name ?? '(none)'} has no encryption_support: encryption_key_ref can't be given`,
    );
  if (handlesShareServers(specs) !== true)
    refuse(`share type ${type!.name} has no share servers: encryption_key_ref can't be given`);
  if (!UUID.test(asked)) refuse('encryption_key_ref must be the UUID of a key');
  return asked;
}
