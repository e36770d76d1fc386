/** Objects in a query: clients send them as JSON, or as Python prints a dict (`{'a': 'b', 'c': None}`). */

type Scalar = string | number | boolean | null;

const TOKEN =
  /\s*(?:([{}:,])|u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?)(?![\w.])|(True|true|False|false|None|null)(?!\w)|$)/sy;

interface Token {
  mark?: string;
  value?: Scalar;
}

/** Reads a flat object of scalars; undefined for any other text. */
export function readDict(text: string): Record<string, Scalar> | undefined {
  const tokens = tokensOf(text);
  if (tokens?.[0]?.mark !== '{') return undefined;
  const entries: [string, Scalar][] = [];
  let at = 1;
  while (tokens[at]?.mark !== '}') {
    const [key, colon, value, next] = tokens.slice(at, at + 4);
    if (typeof key?.value !== 'string' || colon?.mark !== ':' || value?.value === undefined) return undefined;
    entries.push([key.value, value.value]);
    if (next?.mark !== ',' && next?.mark !== '}') return undefined;
    at += next.mark === ',' ? 4 : 3;
  }
  return at === tokens.length - 1 ? Object.fromEntries(entries) : undefined;
}

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const match = TOKEN.exec(text);
    if (!match) return undefined;
    const [, mark, quoted, number, word] = match;
    if (mark !== undefined) tokens.push({ mark });
    else if (quoted !== undefined) tokens.push({ value: unquoted(quoted) });
    else if (number !== undefined) tokens.push({ value: Number(number) });
    else if (word !== undefined) tokens.push({ value: words[word.toLowerCase()]! });
  }
  return tokens;
}

const words: Readonly<Record<string, Scalar>> = { true: true, false: false, none: null, null: null };
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function unquoted(text: string): string {
  return text
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs, (_, unicode, hex, other) => {
      const code = unicode ?? hex;
      return code === undefined ? (escapes[other] ?? other) : String.fromCharCode(Number.parseInt(code, 16));
    });
}
