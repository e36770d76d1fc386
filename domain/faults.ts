/**
 * Every refusal a client can get, in one table: a name, an HTTP status and a text. Handlers and the database
 * throw these; one renderer (server/http/faults.ts) writes them. `{x}` is filled from the fault's values.
 */

const table = {
  // 400: what was asked makes no sense
  invalidInput: [400, 'Invalid input: {reason}'],
  invalidBody: [400, 'Invalid request body: {where}: {reason}'],
  invalidQuery: [400, 'Invalid query: {where}: {reason}'],
  malformedBody: [400, 'Malformed request body: {reason}'],
  unsupportedBody: [400, 'The request needs a JSON body with Content-Type: application/json.'],
  noBody: [400, 'The request needs a JSON body and has none.'],
  oneAction: [400, 'An action request has exactly one key, the name of the action; this one has {count}.'],
  unknownAction: [404, 'There is no action {action} here at version {version}.'],
  wrongProjectInUrl: [400, 'Malformed request url: the project in the path is not the one the token is for.'],
  invalidVersionHeader: [
    400,
    'API version {version} is of invalid format. It must be MAJOR.MINOR, as in 2.99.',
  ],
  invalidShare: [400, 'Invalid share: {reason}'],
  invalidShareServer: [400, 'Invalid share server: {reason}'],
  invalidSnapshot: [400, 'Invalid snapshot: {reason}'],
  invalidMetadata: [400, 'Invalid metadata: {reason}'],
  invalidAccess: [400, 'Invalid access rule: {reason}'],
  accessExists: [400, 'An access rule {type}:{to} exists already.'],
  invalidMarker: [400, 'Marker {marker} could not be found.'],
  invalidBackup: [400, 'Invalid backup: {reason}'],
  invalidShareType: [400, 'Invalid share type: {reason}'],
  invalidQosType: [400, 'Invalid QoS type: {reason}'],
  invalidShareGroupType: [400, 'Invalid share group type: {reason}'],
  invalidExtraSpec: [400, 'Invalid extra spec {key}: {reason}'],
  invalidQuota: [400, 'Invalid quota of {resource}: {reason}'],
  unknownShare: [400, 'Share {id} could not be found.'],
  invalidReplica: [400, 'Unable to do this with replicas: {reason}'],
  unknownSnapshot: [400, 'Snapshot {id} could not be found.'],
  // 403
  forbidden: [403, 'Policy does not allow {action} to be performed.'],
  notAllowed: [403, '{reason}'],
  // 404
  notFound: [404, 'The resource could not be found.'],
  shareNotFound: [404, 'Share {id} could not be found.'],
  shareInstanceNotFound: [404, 'Share instance {id} could not be found.'],
  shareReplicaNotFound: [404, 'Share replica {id} could not be found.'],
  snapshotNotFound: [404, 'Snapshot {id} could not be found.'],
  snapshotInstanceNotFound: [404, 'Snapshot instance {id} could not be found.'],
  backupNotFound: [404, 'Share backup {id} could not be found.'],
  accessNotFound: [404, 'Access rule {id} could not be found.'],
  exportLocationNotFound: [404, 'Export location {id} could not be found.'],
  shareTypeNotFound: [404, 'Share type {id} could not be found.'],
  shareGroupNotFound: [404, 'Share group {id} could not be found.'],
  shareServerNotFound: [404, 'Share server {id} could not be found.'],
  shareGroupSnapshotNotFound: [404, 'Share group snapshot {id} could not be found.'],
  shareGroupTypeNotFound: [404, 'Share group type {id} could not be found.'],
  qosTypeNotFound: [404, 'QoS type {id} could not be found.'],
  shareNetworkNotFound: [404, 'Share network {id} could not be found.'],
  shareNetworkSubnetNotFound: [404, 'Share network subnet {id} could not be found.'],
  securityServiceNotFound: [404, 'Security service {id} could not be found.'],
  availabilityZoneNotFound: [404, 'Availability zone {name} could not be found.'],
  specNotFound: [404, '{what} {id} has no spec {key}.'],
  metadataNotFound: [404, 'There is no metadata key {key}.'],
  noDefaultShareType: [404, 'There is no default share type.'],
  noDefaultShareGroupType: [404, 'There is no default share group type.'],
  typeHasNoAccessList: [404, '{what} {id} is public and so has no access list.'],
  typeAccessNotFound: [404, 'Project {project} has no access to {what} {id} of its own.'],
  resourceLockNotFound: [404, 'Resource lock {id} could not be found.'],
  shareTransferNotFound: [404, 'Transfer {id} could not be found.'],
  messageNotFound: [404, 'Message {id} could not be found.'],
  serviceNotFound: [404, 'Service {binary} on host {host} could not be found.'],
  // 409
  conflict: [409, '{reason}'],
  invalidState: [409, '{what} {id} is {status}; this needs it {allowed}.'],
  // 413
  overQuota: [413, 'Quota exceeded for {resource}: {requested} requested, {used} of {limit} in use.'],
  bodyTooLarge: [413, 'The request body is larger than {limit} bytes.'],
  // others
  unacceptableVersion: [
    406,
    'Version {version} is not supported by the API. Minimum is 2.{min} and maximum is 2.{max}.',
  ],
  unprocessable: [422, 'The request body has no {key} object.'],
  unsupported: [422, '{reason}'],
  internal: [500, 'The service failed on this request. Its operators find the cause under the request id.'],
  notImplemented: [501, '{reason}'],
  unavailable: [503, 'The service is not ready: {reason}'],
} as const satisfies Record<string, readonly [status: number, text: string]>;

export type FaultCode = keyof typeof table;

/** A refusal on its way to the client: throw it anywhere, in or out of a transaction. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly status: number;
  /** seconds, for 413 and 503 */
  readonly retryAfter: number | undefined;

  constructor(code: FaultCode, values: Record<string, unknown> = {}, status?: number, retryAfter?: number) {
    const [tableStatus, text] = table[code];
    super(text.replace(/\{(\w+)\}/g, (_, key: string) => plain(values[key])));
    this.name = 'Fault';
    this.code = code;
    this.status = status ?? tableStatus;
    this.retryAfter = retryAfter ?? (this.status === 413 ? 0 : undefined);
  }
}

/** A value as it stands in a text; cut, so that no answer echoes a megabyte. */
function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/**
 * Makes a Fault. `status` overrides the table's where an operation answers the same refusal with another code
 * (the API does so in places, for example 400 for an unknown share in a filter).
 */
export function fault(code: FaultCode, values?: Record<string, unknown>, status?: number): Fault {
  // Refusals are answers, not accidents: where they were thrown is of no interest, and finding out costs.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const made = new Fault(code, values, status);
  Error.stackTraceLimit = stackTraceLimit;
  return made;
}
