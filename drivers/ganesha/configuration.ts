/** Ganesha's configuration: one block per export, and the frame around them. */
import { DriverError } from '../driver.ts';
import type { ClientBlock } from './accessList.ts';
import type { VolumeKind } from './storage.ts';

export interface ServerSettings {
  address: string;
  port: number;
  /** seconds in which only clients known before a restart may claim their state; 0: none */
  gracePeriod: number;
  recoveryDirectory: string;
}

/**
 * Everything but the exports. Names aren't cached: the driver and the data worker put files in the place of others,
 * and the old ones would be looked for.
 */
export function serverBlocks(settings: ServerSettings): string {
  const grace =
    settings.gracePeriod === 0
      ? 'Graceless = true;'
      : `Graceless = false; Grace_Period = ${settings.gracePeriod}; Lease_Lifetime = ${settings.gracePeriod};`;
  return `NFS_CORE_PARAM {
  Protocols = 4;
  Bind_addr = ${settings.address};
  NFS_Port = ${settings.port};
  Enable_NLM = false;
  Enable_RQUOTA = false;
  Enable_UDP = false;
}
NFS_KRB5 { Active_krb5 = false; CCacheDir = ${quoted(`${settings.recoveryDirectory}/krb5`)}; }
NFSv4 {
  ${grace}
  RecoveryBackend = fs;
  RecoveryRoot = ${quoted(settings.recoveryDirectory)};
  Only_Numeric_Owners = true;
}
MDCACHE { Dir_Chunk = 0; }
LOG { Default_Log_Level = EVENT; COMPONENTS { CONFIG = CRIT; FSAL = MAJ; } }
`;
}

export interface ExportRecord {
  /** Ganesha's number of the export: part of every file handle, so it stays for as long as the export */
  number: number;
  kind: VolumeKind;
  path: string;
  blocks: readonly ClientBlock[];
  /** the path under which clients find it, where it isn't made of kind and id */
  pseudo?: string;
  /** the pool, where it isn't the first */
  pool?: string;
  /** whatever its access rules say: a replica that isn't the active one */
  readOnly?: boolean;
}

/** The path under which clients find it. Only names that were checked go in. */
export const pseudoPath = (kind: VolumeKind, id: string): string => `/${kind}/${id}`;

/** The record stands in the first line, so that the file is all that has to be kept. */
export function exportBlock(id: string, record: ExportRecord): string {
  const pseudo = record.pseudo ?? pseudoPath(record.kind, id);
  const blocks = record.readOnly
    ? record.blocks.map((block) => ({ ...block, level: 'ro' as const }))
    : record.blocks;
  // no attribute is cached: the driver changes files behind Ganesha's back
  return `# ${JSON.stringify(record)}
EXPORT {
  Export_Id = ${record.number};
  Path = ${quoted(record.path)};
  Pseudo = "${pseudo}";
  Protocols = 4;
  Transports = TCP;
  SecType = sys;
  Squash = No_Root_Squash;
  Attr_Expiration_Time = 0;
  Access_Type = None;
  FSAL { Name = VFS; }
${blocks.map(clientBlock).join('')}}
`;
}

function clientBlock({ networks, level }: ClientBlock): string {
  return `  CLIENT { Clients = ${networks.join(', ')}; Access_Type = ${level.toUpperCase()}; }\n`;
}

export function parseExportBlock(text: string): ExportRecord | null {
  const line = /^# (\{.*\})\n/.exec(text)?.[1];
  return line === undefined ? null : (JSON.parse(line) as ExportRecord);
}

/** Paths come from the operator's configuration; the few that would need escaping are refused. */
function quoted(path: string): string {
  if (!/^\/[^"\\\n\r]*$/.test(path))
    throw new DriverError('invalid', `${JSON.stringify(path)} can't stand in Ganesha's configuration`);
  return `"${path}"`;
}
