/**
 * References from one value to another option's: `$state_path/x`, `${my_ip}`, `${database.name}`; `$$` is a dollar
 * sign. What names no option stays as it is.
 */

const reference = /\$(?:(\$)|(\w+)|\{(?:(\w+)\.)?(\w+)\})/g;

/** An option that refers to itself is cut off at this depth. */
const deepest = 8;

/** `lookup` answers the text of an option, before substitution, or undefined when there is none. */
export function substitute(
  text: string,
  lookup: (section: string, name: string) => string | undefined,
  depth = 0,
): string {
  if (!text.includes('$')) return text;
  return text.replace(
    reference,
    (whole, dollar?: string, plain?: string, section?: string, braced?: string) => {
      if (dollar) return '$';
      const found = lookup(section ?? 'DEFAULT', (plain ?? braced)!);
      if (found === undefined || depth >= deepest) return whole;
      return substitute(found, lookup, depth + 1);
    },
  );
}
