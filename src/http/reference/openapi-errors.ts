import { ERROR_CATALOGUE } from '../answers/error-envelope.ts'
import { messagesWire } from '../../wires/anthropic-messages/messages-wire.ts'
import { oauthWire } from '../../wires/oauth/oauth-wire.ts'
import { SCIM_ERROR_URN, SCIM_TYPE, scimWire } from '../../wires/scim/scim-wire.ts'
import type { Wire, WireError } from '../../wires/wire.ts'
import { PROBE_PATHS } from '../connections/probe-paths.ts'
import type { RouteDescription } from '../route.ts'
import { takesIdempotencyKey, usesModels } from './openapi-answers.ts'
import { describeErrorHeaders } from './openapi-headers.ts'
import type { JsonObject } from './openapi-schemas.ts'

/** Derives the error statuses of a route from its path, method, access and body. */
export function errorStatuses(route: RouteDescription): number[] {
  const { path, method, access, admit, body, otherErrors = [] } = route
  const isInference = usesModels(access) && method === 'POST'
  const statuses = [
    ...otherErrors,
    // Any route can answer 400, because a URL with a character that cannot be stored is refused everywhere.
    400,
    ...(access === null ? [] : [401, 403, 503]),
    ...(admit === undefined ? [] : [401, 503, ...(method === 'GET' ? [] : [409])]),
    ...(access === null && PROBE_PATHS.has(path) ? [] : [429]),
    ...(isInference ? [402, 502, 504] : []),
    ...(path.includes(':') || isInference ? [404] : []),
    ...(access !== null && method !== 'GET' ? [409] : []),
    ...(takesIdempotencyKey({ method, access }) ? [422] : []),
    ...(body ? [408, 413, 415] : []),
    ...(path.startsWith('/v1/') || admit !== undefined ? [500] : []),
  ]
  return [...new Set(statuses)].toSorted((one, other) => one - other)
}

const ERROR_NAMES: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The request is not valid; `param` names the field.'],
  401: ['Unauthorized', 'The key is missing, malformed, unknown, revoked or expired.'],
  402: ['PaymentRequired', 'The balance or a cap does not cover the request. Retrying does not help.'],
  403: ['Forbidden', 'The key is valid and not allowed to do this.'],
  404: ['NotFound', 'It does not exist, or belongs to another account.'],
  408: ['RequestTimeout', 'The request did not arrive in time.'],
  409: ['Conflict', 'It is not in a state that allows this, or a request with the same key still runs.'],
  412: ['PreconditionFailed', 'It has another version than `If-Match` names.'],
  413: ['RequestTooLarge', 'The body is larger than the limit.'],
  415: ['UnsupportedMediaType', 'The body has the wrong content type.'],
  422: ['KeyReused', 'The `Idempotency-Key` was used for another request.'],
  429: ['TooManyRequests', 'A rate or concurrency limit is reached; `retry-after` says when to come back.'],
  500: ['InternalError', 'A defect of the gateway; its log knows the request by `request_id`.'],
  502: ['UpstreamError', 'Every upstream of the model failed.'],
  503: [
    'Unavailable',
    'No capacity, no configured upstream, no database or no store of files at the moment.',
  ],
  504: ['Timeout', 'The upstream did not answer in time.'],
}

/** Returns the name of the component that describes an error of a route, in the form of its wire. */
export function errorName(status: number, wire?: Wire): string {
  return `${formOf(wire).prefix}${ERROR_NAMES[status]?.[0] ?? `Error${status}`}`
}

interface ErrorForm {
  readonly prefix: string
  readonly schema: string
  readonly contentTypes?: readonly string[]
  format(error: WireError): object
}

const OWN_FORM: ErrorForm = {
  prefix: '',
  schema: 'Error',
  format: ({ message, type, param, code, requestId }) => ({
    error: { message, type, param, code, request_id: requestId },
  }),
}
const ANTHROPIC_FORM: ErrorForm = {
  prefix: 'Anthropic',
  schema: 'AnthropicError',
  format: (error) => messagesWire.formatError(error),
}

const OAUTH_FORM: ErrorForm = {
  prefix: 'OAuth',
  schema: 'OAuthError',
  format: (error) => oauthWire.formatError(error),
}

const SCIM_FORM: ErrorForm = {
  prefix: 'Scim',
  schema: 'ScimError',
  contentTypes: [SCIM_TYPE, 'application/json'],
  format: (error) => scimWire.formatError(error),
}

function formOf(wire: Wire | undefined): ErrorForm {
  if (wire === scimWire) return SCIM_FORM
  if (wire === oauthWire) return OAUTH_FORM
  return wire === messagesWire ? ANTHROPIC_FORM : OWN_FORM
}

/** Describes the errors of all wires. */
export function describeErrorAnswers(): JsonObject {
  return Object.fromEntries(
    [OWN_FORM, ANTHROPIC_FORM, OAUTH_FORM, SCIM_FORM].flatMap((form) =>
      Object.entries(ERROR_NAMES).map(([status, [name, description]]) => [
        `${form.prefix}${name}`,
        describeErrorAnswer(form, Number(status), description),
      ]),
    ),
  )
}

function describeErrorAnswer(form: ErrorForm, status: number, message: string): JsonObject {
  const codes = Object.entries(ERROR_CATALOGUE).filter(([, entry]) => entry.status === status)
  const [code, { type }] = codes[0] ?? ['internal_error', ERROR_CATALOGUE.internal_error]
  const requestId = 'req_0123456789abcdef01234567'
  return {
    description: `${message} Codes: ${codes.map(([one]) => `\`${one}\``).join(', ')}.`,
    headers: describeErrorHeaders(status),
    content: Object.fromEntries(
      (form.contentTypes ?? ['application/json']).map((contentType) => [
        contentType,
        {
          schema: { $ref: `#/components/schemas/${form.schema}` },
          example: form.format({ status, code, type, message, param: null, requestId, details: null }),
        },
      ]),
    ),
  }
}

/** Errors as clients of OAuth read them. */
export const OAUTH_ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: {
    error: { type: 'string', description: 'What went wrong, in the words of RFC 6749 and RFC 8628.' },
    error_description: { type: 'string', description: 'For people.' },
  },
}

/** Errors as RFC 7644 has them. */
export const SCIM_ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['schemas', 'status'],
  properties: {
    schemas: {
      type: 'array',
      items: { const: SCIM_ERROR_URN },
      description: 'What kind of message this is.',
    },
    status: { type: 'string', description: 'The status of HTTP, as text.' },
    scimType: { type: 'string', description: 'For programs: what is wrong with the request.' },
    detail: { type: 'string', description: 'For people.' },
  },
}

/** Errors in Anthropic's form, with our `code` and `param` beside. */
export const ANTHROPIC_ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['type', 'error', 'request_id'],
  properties: {
    type: { const: 'error' },
    error: {
      type: 'object',
      description: 'What went wrong.',
      required: ['type', 'message'],
      properties: {
        type: { type: 'string', description: "The class of the error, in Anthropic's words." },
        message: { type: 'string', description: 'For people.' },
        code: { type: ['string', 'null'], description: 'For programs.' },
        param: { type: ['string', 'null'], description: 'The field at fault.' },
        details: {
          type: 'object',
          description: 'What the SDKs of Anthropic need to go on without a feature.',
        },
      },
    },
    request_id: { type: 'string', description: 'Names the request in the log.' },
  },
}

export const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      description: 'What went wrong.',
      required: ['message', 'type', 'param', 'code', 'request_id'],
      properties: {
        message: { type: 'string', description: 'For people.' },
        type: {
          type: 'string',
          enum: [...new Set(Object.values(ERROR_CATALOGUE).map(({ type }) => type))],
          description: 'The class of the error.',
        },
        param: {
          type: ['string', 'null'],
          description: 'The field at fault, nested as `messages.0.content`.',
        },
        code: {
          type: ['string', 'null'],
          enum: [...Object.keys(ERROR_CATALOGUE), null],
          description: 'For programs.',
        },
        request_id: {
          type: 'string',
          description: 'Names the request in the log.',
          examples: ['req_0123456789abcdef01234567'],
        },
      },
    },
  },
}
