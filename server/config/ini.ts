/**
 * Reads INI text as operators' files have it: `[section]`, `name = value` or `name: value`, comments at the start
 * of a line, indented lines continuing the value above. Every entry remembers its line, so that whoever finds
 * fault with it can say where it stands.
 */

export interface IniEntry {
  file: string;
  line: number;
  section: string;
  name: string;
  value: string;
}

export interface IniFault {
  file: string;
  line: number;
  reason: string;
}

export interface IniFile {
  entries: IniEntry[];
  /** the sections in the order of their headers, also the empty ones */
  sections: string[];
  faults: IniFault[];
}

/** Parses the text of one file. Never throws: what can't be read is in `faults`. */
export function parseIni(text: string, file: string): IniFile {
  const parsed: IniFile = { entries: [], sections: [], faults: [] };
  let section = 'DEFAULT';
  let open: IniEntry | null = null;
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const trimmed = raw.trim();
    if (trimmed === '' || /^[#;]/.test(raw)) {
      if (trimmed === '') open = null;
      continue;
    }
    if (/^\s/.test(raw)) {
      // An indented comment inside a value is part of it, as it is for the readers operators know.
      if (open) open.value += `\n${trimmed}`;
      else parsed.faults.push({ file, line, reason: 'an indented line continues nothing' });
      continue;
    }
    open = null;
    if (trimmed.startsWith('[')) {
      const header = /^\[([^\]]+)\]$/.exec(trimmed);
      if (!header) parsed.faults.push({ file, line, reason: 'a section header has the form [name]' });
      else {
        section = header[1]!.trim();
        parsed.sections.push(section);
      }
      continue;
    }
    const pair = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(trimmed);
    if (!pair) {
      parsed.faults.push({ file, line, reason: 'neither a [section], a comment nor `name = value`' });
      continue;
    }
    open = { file, line, section, name: pair[1]!, value: pair[2]! };
    parsed.entries.push(open);
  }
  for (const entry of parsed.entries) entry.value = unquote(entry.value);
  return parsed;
}

function unquote(value: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(value);
  return quoted ? quoted[2]! : value;
}
