import type { TSchema } from 'typebox'
import { scopeOfPermission } from '../../modules/keys/keys.ts'
import { describeForm, describeFormExample } from '../multipart/describe-form.ts'
import { TAGS_HEADER } from '../../modules/keys/keys.ts'
import { URL_ENCODED } from '../register-route.ts'
import { SCIM_TYPE, scimWire } from '../../wires/scim/scim-wire.ts'
import type { RouteDescription } from '../route.ts'
import { describeAnswer, takesIdempotencyKey } from './openapi-answers.ts'
import {
  ANTHROPIC_ERROR_SCHEMA,
  OAUTH_ERROR_SCHEMA,
  describeErrorAnswers,
  ERROR_SCHEMA,
  SCIM_ERROR_SCHEMA,
  errorName,
  errorStatuses,
} from './openapi-errors.ts'
import { HEADER_COMPONENTS } from './openapi-headers.ts'
import { collectComponents, membersOf, type JsonObject, type SchemaReader } from './openapi-schemas.ts'
import { BODY_EXAMPLES } from './notes/body-examples.ts'
import { documentPath, operationKey, OPERATION_NOTES } from './operation-notes.ts'

export interface OpenApiOptions {
  readonly version: string
  /** The URL at which clients reach the gateway. Default: the origin that served the document. */
  readonly serverUrl?: string
}

/** Builds an OpenAPI 3.1 document from the route table. TypeBox schemas are JSON Schema already. */
export function buildOpenApi(
  table: readonly RouteDescription[],
  { version, serverUrl = '/' }: OpenApiOptions,
): JsonObject {
  const routes = table.filter((route) => !isPageAsset(route))
  const components = collectComponents({
    Error: ERROR_SCHEMA,
    AnthropicError: ANTHROPIC_ERROR_SCHEMA,
    OAuthError: OAUTH_ERROR_SCHEMA,
    ScimError: SCIM_ERROR_SCHEMA,
  })
  const operationIds = new Set<string>()
  const paths: Record<string, JsonObject> = {}
  for (const route of routes) {
    const path = documentPath(route.path)
    const operation = describeOperation(route, components.read, nameOperation(route, operationIds))
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Parkway',
      version,
      summary: 'One OpenAI-compatible API to many AI models.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.all(),
      responses: describeErrorAnswers(),
      headers: HEADER_COMPONENTS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'pk-<env>-<secret>',
          description: 'An API key of an account. `/v1/tenants/me/api-keys` makes further ones.',
        },
        scimToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'scim-<secret>',
          description: 'The token of a directory. `/v1/organization/scim_tokens` makes them.',
        },
      },
    },
  }
}

const DESCRIPTION = `Every request carries \`Authorization: Bearer <API key>\`. Clients made for the OpenAI API work when their base URL is
set to this server's \`/v1\`.

Every path of the API, except for operators' routes, also works with a slash at its end, without \`/v1\`, and below \`/openai/v1\`. Azure's clients set their endpoint to
this server: the model is then in the path, as in \`/openai/deployments/{model}/chat/completions\`, and the key in the header
\`api-key\`. Anthropic's clients set their base URL to this server, with or without \`/anthropic\`, and may send the key in
\`x-api-key\`.

Errors have one shape, \`{"error": {"message", "type", "param", "code", "request_id"}}\`; every answer carries
\`x-request-id\`. Amounts of money are numbers in US dollars and end in \`_usd\`; times are RFC 3339 in UTC.`

// Scripts are part of a page, not of the API.
function isPageAsset({ responses }: RouteDescription): boolean {
  return Object.values(responses).every(({ contentType }) => contentType === 'text/javascript')
}

function describeOperation(route: RouteDescription, read: SchemaReader, operationId: string): JsonObject {
  const { body } = route
  const parameters = [
    ...describeParameters('path', route.params, read, pathParameters(route.path)),
    ...describeParameters('query', route.query, read),
    ...(takesIdempotencyKey(route) ? [IDEMPOTENCY_KEY] : []),
    ...(route.takesTags === undefined && !('isHot' in route) ? [] : [TAGS]),
  ]
  const answers = Object.entries(route.responses).map(([status, answer]) => [
    status,
    describeAnswer(route, Number(status), answer, read),
  ])
  const errors = errorStatuses(route)
    .filter((status) => !(status in route.responses))
    .map((status) => [status, { $ref: `#/components/responses/${errorName(status, route.wire)}` }])
  return {
    operationId,
    summary: route.summary,
    tags: [route.tag],
    description: describe(route),
    security: securityOf(route),
    ...(route.access === null
      ? {}
      : { 'x-permissions': route.access.permissions, 'x-reach': route.access.reach }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body
      ? { requestBody: { required: isBodyRequired(route), content: describeBody(route, body, read) } }
      : {}),
    responses: Object.fromEntries([...answers, ...errors]),
  }
}

function securityOf({ access, admit }: RouteDescription): JsonObject[] {
  if (admit !== undefined) return [{ scimToken: [] }]
  return access === null ? [] : [{ apiKey: [] }]
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to send the request again: for 24 hours the same key with the same body gets the first answer and ' +
    'is charged nothing.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
}

const TAGS: JsonObject = {
  name: TAGS_HEADER,
  in: 'header',
  required: false,
  description: 'Tags that usage and costs are grouped by, such as `team=search,feature=chat`.',
  schema: { type: 'string', maxLength: 2000 },
}

/** Describes what the operation does, what its key needs and how it is charged. */
function describe(route: RouteDescription): string {
  const { isChargedByCall, method, aliasOf } = route
  const notes = [OPERATION_NOTES[operationKey(route)], describeAccess(route)]
  if (aliasOf !== undefined) notes.unshift(`The same as \`${method} ${documentPath(aliasOf)}\`.`)
  if (isChargedByCall) notes.push('Each request that it sends to a model is charged as a chat request is.')
  return notes.filter((note) => note !== undefined).join('\n\n')
}

function describeAccess({ access, admit }: RouteDescription): string {
  if (admit !== undefined) return 'Needs the SCIM token of an account. An API key is not taken.'
  if (access === null) return 'Needs no key.'
  const { permissions, reach } = access
  if (permissions.length === 0) return 'Any key will do.'
  const scopes = [...new Set(permissions.map(scopeOfPermission))].map((scope) => `\`${scope}\``)
  const named = permissions.map((permission) => `\`${permission}\``).join(' and ')
  const needed = `Needs ${named}, which keys with the scope ${scopes.join(' and ')} have.`
  return reach === 'account' ? `${needed} Keys of a project do not reach it.` : needed
}

/** Derives the operation id from method and path, so that new routes do not change existing ids: `postChatCompletions`. */
function nameOperation({ method, path }: RouteDescription, taken: Set<string>): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .split(/[^A-Za-z0-9:]+/)
    .filter(Boolean)
  const name = words
    .map((word) => (word.startsWith(':') ? `By${capitalize(word.slice(1))}` : capitalize(word)))
    .join('')
  const base = method.toLowerCase() + name
  let operationId = base
  for (let number = 2; taken.has(operationId); number += 1) operationId = `${base}${number}`
  taken.add(operationId)
  return operationId
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
}

function describeParameters(
  place: 'path' | 'query',
  schema: TSchema | undefined,
  read: SchemaReader,
  names?: string[],
): JsonObject[] {
  const { properties, required } = membersOf(schema)
  // A name with brackets is another spelling of the same parameter, which generated clients would have twice.
  const shown = names ?? Object.keys(properties).filter((name) => !name.endsWith('[]'))
  return shown.map((name) => {
    const property = properties[name]
    const { description, ...rest } = property ? read(property) : { type: 'string' }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

// A POST with only optional fields is accepted without a body.
function isBodyRequired({ body, form }: RouteDescription): boolean {
  return (
    membersOf(body).required.length > 0 || Object.values(form?.files ?? {}).some((rule) => rule.isRequired)
  )
}

function describeBody(route: RouteDescription, body: TSchema, read: SchemaReader): JsonObject {
  const { form } = route
  const example = exampleOf(body) ?? BODY_EXAMPLES[operationKey(route)]
  const json = { schema: read(body), ...(example === undefined ? {} : { example }) }
  if (route.takesUrlEncoded) return { [URL_ENCODED]: json }
  if (route.wire === scimWire) return { [SCIM_TYPE]: json, 'application/json': json }
  if (form === undefined) return { 'application/json': json }
  const fields = { schema: describeForm(form, body, read), example: describeFormExample(form, example) }
  return { 'multipart/form-data': fields, 'application/json': json }
}

function exampleOf({ examples }: { examples?: unknown }): unknown {
  return Array.isArray(examples) ? examples[0] : undefined
}
