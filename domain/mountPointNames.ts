/** Names of mount points: what the last part of a share's export path is to be, where its type lets users choose. */
import { parseBoolean } from './extraSpecs.ts';
import { fault } from './faults.ts';

type Specs = Readonly<Record<string, string | null>>;

const NAME = /^[A-Za-z0-9_-]{1,255}$/;

/**
 * The whole name, which begins with the type's prefix, else with the project: names of two projects never meet. Null
 * when none is asked for; throws invalidInput when the type has no say in it or the name is none.
 */
export function mountPointName(
  type: { name: string; extra_specs: Specs } | null,
  projectId: string,
  asked: string | number | null | undefined,
): string | null {
  if (asked === null || asked === undefined || asked === '') return null;
  const specs = type?.extra_specs ?? {};
  if (!isSaid(specs.mount_point_name_support))
    throw fault('invalidInput', {
      reason: `share type ${type?.name ?? '(none)'} does not support mount_point_name`,
    });
  const name = `${specs['provisioning:mount_point_prefix'] || projectId}_${asked}`;
  if (NAME.test(name)) return name;
  throw fault('invalidInput', {
    reason: `mount_point_name ${JSON.stringify(asked)} must have letters, digits, - and _ only, and with its prefix at most 255: ${name}`,
  });
}

/** `True` or, as the scheduler takes it, `<is> True`. */
function isSaid(value: string | null | undefined): boolean {
  return parseBoolean((value ?? '').replace(/^<is>\s*/i, '')) === true;
}
