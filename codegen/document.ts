/**
 * The contract at one microversion as a standard OpenAPI 3.1 document: the paths, actions and fields
 * of that version and no others. All actions of a resource are one operation, as OpenAPI knows no
 * other way, with a body that is one of them.
 */
import type { Contract, JsonSchema, Operation, ResponseKey } from './contract.ts';
import { reach, refName, refsIn, schemaAt, withRefs } from './schemas.ts';
import { within } from './windows.ts';

const inComponents = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const refer = (schema: JsonSchema): JsonSchema => withRefs(schema, inComponents);

const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });

export function documentAt(contract: Contract, version: number): JsonSchema {
  const operations = contract.operations.filter(
    (operation) => !operation.planned && within(operation, version),
  );
  const tags = [...new Set(operations.map((operation) => operation.resource))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Shoal',
      version: `2.${version}`,
      summary: 'Shared file systems as a service.',
      description:
        'The OpenStack Manila API at one microversion. Every path is also served below `/{project_id}`, ' +
        "which must be the id of the token's project.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v2', description: 'The API of this deployment' }],
    security: [{ token: [] }],
    tags: tags.map((name) => ({ name, description: contract.tags[name] || name })),
    paths: pathsAt(contract, operations, version),
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Auth-Token',
          description: 'A token of the identity service',
        },
      },
      parameters: headersAt(operations, version),
      responses: { Fault: fault },
      schemas: schemasAt(contract, operations, version),
    },
  };
}

function headersAt(operations: readonly Operation[], version: number): JsonSchema {
  const versionHeader = {
    name: 'X-OpenStack-Manila-API-Version',
    in: 'header',
    description: 'The microversion; 2.0 when left out.',
    required: version > 0,
    schema: { type: 'string', enum: [`2.${version}`] },
  };
  const experimentalHeader = {
    name: 'X-OpenStack-Manila-API-Experimental',
    in: 'header',
    description:
      'Says that the caller knows that what is marked x-experimental may still change; needed for it.',
    schema: { type: 'string', enum: ['true', 'True'] },
  };
  const experimental = operations.some((operation) => isExperimental(operation, version));
  return { Version: versionHeader, ...(experimental ? { Experimental: experimentalHeader } : {}) };
}

const fault: JsonSchema = {
  description: 'The request was refused.',
  content: json({
    type: 'object',
    description: 'One key, which names the fault.',
    additionalProperties: {
      type: 'object',
      properties: { code: { type: 'integer' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
    examples: [{ itemNotFound: { code: 404, message: 'There is no such share.' } }],
  }),
};

function schemasAt(contract: Contract, operations: readonly Operation[], version: number): JsonSchema {
  const requests = new Set(
    reachAt(
      contract,
      version,
      operations.flatMap((o) => refsIn([o.request?.schema])),
    ),
  );
  const names = reachAt(
    contract,
    version,
    operations.flatMap((o) => refsIn([o.request?.schema, (o.response ?? []).map((key) => key.schema)])),
  );
  // Parameters stand in the operations themselves, and refer to what their schemas are made of.
  const parameters = operations.flatMap((operation) =>
    queryFields(contract, operation, version).map((f) => f.schema),
  );
  const all = new Set([...names, ...reachAt(contract, version, refsIn(parameters))]);
  return Object.fromEntries(
    [...all].sort().map((name) => {
      const schema = contract.schemas[name];
      const side = requests.has(name) ? 'request' : 'response';
      const shown = schemaAt(contract, name, version, side, inComponents);
      if (schema?.kind !== 'object') return [name, shown];
      const properties = shown.properties as Record<string, JsonSchema>;
      for (const field of schema.fields) {
        const property = properties[field.name];
        if (property && field.visibleTo && within(field, version)) property['x-visible-to'] = field.visibleTo;
      }
      return [name, shown];
    }),
  );
}

/** As reach, by way of the fields that stand at the version. */
function reachAt(contract: Contract, version: number, names: readonly string[]): string[] {
  const schemas = Object.fromEntries(
    Object.entries(contract.schemas).map(([name, schema]) => [
      name,
      schema.kind === 'object'
        ? { ...schema, fields: schema.fields.filter((field) => within(field, version)) }
        : schema,
    ]),
  );
  return [...reach({ ...contract, schemas }, names)];
}

function pathsAt(contract: Contract, operations: readonly Operation[], version: number): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  const actions = new Map<string, Operation[]>();
  const put = (path: string, method: string, item: JsonSchema): void => {
    paths[path] ??= { parameters: pathParameters(path) };
    paths[path][method] = item;
  };
  for (const operation of operations) {
    const spellings = operation.paths.filter((spelling) => within(spelling, version));
    spellings.forEach(({ path }, i) => {
      if (operation.actions) actions.set(path, [...(actions.get(path) ?? []), operation]);
      else put(path, operation.method.toLowerCase(), operationAt(contract, operation, version, i));
    });
  }
  for (const [path, ones] of actions) put(path, 'post', actionAt(path, ones, version));
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const pathParameters = (path: string): JsonSchema[] => [
  { $ref: '#/components/parameters/Version' },
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
];

const isExperimental = (operation: Operation, version: number): boolean =>
  operation.experimental.some((window) => within(window, version));

function queryFields(contract: Contract, operation: Operation, version: number) {
  const schema = operation.query ? contract.schemas[refName(operation.query) ?? ''] : undefined;
  if (schema?.kind !== 'object') return [];
  return schema.fields
    .filter((field) => within(field, version))
    .map((field) => ({ ...field, required: schema.required.includes(field.name) }));
}

function operationAt(
  contract: Contract,
  operation: Operation,
  version: number,
  spelling: number,
): JsonSchema {
  const { request, response } = operation;
  const parameters: JsonSchema[] = queryFields(contract, operation, version).map(
    ({ name, required, schema }) => {
      const { description, ...rest } = refer(schema);
      return { name, in: 'query', required, ...(description ? { description } : {}), schema: rest };
    },
  );
  if (isExperimental(operation, version)) parameters.push({ $ref: '#/components/parameters/Experimental' });
  return {
    // The second spelling of a path needs an id of its own.
    operationId: spelling === 0 ? operation.id : `${operation.id}${spelling + 1}`,
    tags: [operation.resource],
    summary: operation.summary,
    ...(operation.description ? { description: operation.description } : {}),
    ...(operation.policy ? { 'x-policy': operation.policy } : {}),
    ...(isExperimental(operation, version) ? { 'x-experimental': true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request
      ? { requestBody: { required: true, content: json(bodyAt(request.key, refer(request.schema))) } }
      : {}),
    responses: {
      [operation.success]: answerAt(response, version),
      '4XX': { $ref: '#/components/responses/Fault' },
    },
  };
}

const bodyAt = (key: string | null, schema: JsonSchema): JsonSchema =>
  key === null ? schema : { type: 'object', properties: { [key]: schema }, required: [key] };

function answerAt(response: readonly ResponseKey[] | null, version: number): JsonSchema {
  const schema = response && answerSchema(response, version);
  return schema ? { description: 'Done.', content: json(schema) } : { description: 'Done, or taken up.' };
}

function answerSchema(response: readonly ResponseKey[], version: number): JsonSchema {
  const keys = response.filter((key) => within(key, version));
  const whole = keys.find(({ key }) => key === '.');
  if (whole) return refer(whole.schema);
  return {
    type: 'object',
    properties: Object.fromEntries(
      keys.map(({ key, list, schema }) => [
        key,
        list ? { type: 'array', items: refer(schema) } : refer(schema),
      ]),
    ),
    required: keys.filter((key) => !key.optional).map(({ key }) => key),
  };
}

/** All actions on a path: one operation, whose body has the key of one of them. */
function actionAt(path: string, operations: readonly Operation[], version: number): JsonSchema {
  const bodies = operations.flatMap((operation) => {
    const name = operation.actions?.find((action) => within(action, version))?.name;
    if (name === undefined) return [];
    return {
      title: operation.id,
      description: operation.summary,
      type: 'object',
      properties: { [name]: operation.request ? refer(operation.request.schema) : {} },
      required: [name],
      additionalProperties: false,
      ...(operation.policy ? { 'x-policy': operation.policy } : {}),
      ...(isExperimental(operation, version) ? { 'x-experimental': true } : {}),
    };
  });
  const answers: Record<string, JsonSchema> = {};
  for (const success of [...new Set(operations.map((operation) => operation.success))].sort()) {
    const same = operations.filter((operation) => operation.success === success);
    const schemas = same.flatMap(({ response }) => (response ? [answerSchema(response, version)] : []));
    answers[success] =
      schemas.length === 0
        ? { description: 'Taken up.' }
        : {
            description: 'Done.',
            content: json(schemas.length === 1 ? (schemas[0] as JsonSchema) : { anyOf: schemas }),
          };
  }
  const noun = camel(path.split('/')[1] ?? '');
  return {
    operationId: `${noun}Action`,
    tags: [operations[0]?.resource],
    summary: 'Does what the one key of the body says.',
    ...(operations.some((operation) => isExperimental(operation, version))
      ? { parameters: [{ $ref: '#/components/parameters/Experimental' }] }
      : {}),
    requestBody: {
      required: true,
      content: json(bodies.length === 1 ? (bodies[0] as JsonSchema) : { oneOf: bodies }),
    },
    responses: { ...answers, '4XX': { $ref: '#/components/responses/Fault' } },
  };
}

const camel = (text: string): string =>
  text.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
