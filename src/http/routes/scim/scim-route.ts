import type { IncomingMessage } from 'node:http'
import { Type, type Static, type TSchema } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { PAGE_COUNT_MAX, type Scim, type ScimPageRequest } from '../../../modules/scim/scim.ts'
import { SCIM_TYPE, scimWire } from '../../../wires/scim/scim-wire.ts'
import { NO_KEY } from '../../access.ts'
import type { Admission } from '../../admission.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { toErrorAnswer } from '../../answers/error-envelope.ts'
import { originOf } from '../../connections/origin-of.ts'
import type { Exchange } from '../../exchange.ts'
import { baseUrlOf } from '../../parameters/base-url-of.ts'
import type { ResponseDescription, Route, RouteRequest } from '../../route.ts'

export interface ScimRouteOptions {
  readonly scim: Scim
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

/** A group with all people of a large account. */
const BODY_BYTES_MAX = 8 * 1024 * 1024
const BEARER_PATTERN = /^Bearer +(\S+)$/i

/** What all routes of SCIM share: they take the token of a directory, and no key. */
export function scimRoute({ scim, guard }: Pick<ScimRouteOptions, 'scim' | 'guard'>) {
  return {
    tag: 'SCIM',
    access: NO_KEY,
    wire: scimWire,
    bodyLimitBytes: BODY_BYTES_MAX,
    admit: (incoming: IncomingMessage): Promise<Admission> =>
      guard.countSignIn(incoming, async () => ({
        ...(await scim.tokens.authenticate(readBearer(incoming))),
        origin: originOf(incoming, guard),
      })),
  } satisfies Partial<Route>
}

function readBearer({ headers: { authorization } }: IncomingMessage): string {
  const token = authorization === undefined ? undefined : BEARER_PATTERN.exec(authorization)?.[1]
  if (token !== undefined) return token
  throw new AppError('invalid_api_key', 'Send the SCIM token as `Authorization: Bearer scim-…`.')
}

/** Who sent the request. */
export function directoryOf({ admission }: Pick<Exchange, 'admission'>): Admission {
  if (admission === null) throw new Error('a route of SCIM admitted nobody')
  return admission
}

/** Does a write of a directory, and keeps its failure for whoever looks why somebody is missing. */
export async function noted<Result>(
  scim: Scim,
  exchange: Exchange,
  write: () => Promise<Result>,
): Promise<Result> {
  return write().catch(async (error: unknown) => {
    const { status, body } = toErrorAnswer(error, exchange.id)
    const { method = '', url = '' } = exchange.incoming
    // A directory looks for somebody who is gone: that is no failure. The query may have addresses.
    const failure = { method, path: url.split('?', 1)[0] ?? '', status, detail: body.error.message }
    if (status !== 404) await scim.failures.note(directoryOf(exchange), failure).catch(() => {})
    throw error
  })
}

/** An answer in the content type of SCIM, and in that of JSON for clients that only accept this. */
export function scimAnswer(description: string, schema: TSchema): ResponseDescription {
  return { description, schema, contentType: SCIM_TYPE, otherTypes: { 'application/json': schema } }
}

export function scimBaseUrl(
  { headers }: Pick<RouteRequest<unknown, unknown, unknown>, 'headers'>,
  publicUrl: string | null,
): string {
  return `${publicUrl ?? baseUrlOf(headers)}/scim/v2`
}

const LIST_LENGTH_MAX = 2_000

export const SelectionQuery = Type.Object({
  attributes: Type.Optional(
    Type.String({
      maxLength: LIST_LENGTH_MAX,
      description: 'The only attributes to return, separated by commas.',
    }),
  ),
  excludedAttributes: Type.Optional(
    Type.String({ maxLength: LIST_LENGTH_MAX, description: 'Attributes to leave out, such as `members`.' }),
  ),
})

export const ScimListQuery = Type.Object({
  ...SelectionQuery.properties,
  filter: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'Which resources to return: `userName eq "grace@example.com" and active eq true`.',
    }),
  ),
  startIndex: Type.Optional(Type.Integer({ description: 'The position of the first resource, from 1 on.' })),
  count: Type.Optional(
    Type.Integer({
      description: `How many resources at most. ${PAGE_COUNT_MAX} unless told, and never more.`,
    }),
  ),
})

const POSITION_MAX = 1_000_000

/** RFC 7644: a position below 1 is 1, and a negative count is 0. */
export function readScimPage(query: Static<typeof ScimListQuery>): ScimPageRequest {
  return {
    startIndex: Math.min(Math.max(query.startIndex ?? 1, 1), POSITION_MAX),
    count: Math.min(Math.max(query.count ?? PAGE_COUNT_MAX, 0), PAGE_COUNT_MAX),
    filter: query.filter ?? null,
  }
}

export interface Resource {
  readonly id: string
  readonly schemas: readonly string[]
  readonly [name: string]: unknown
}

/** Leaves what the client wants. `id` and `schemas` are always returned. */
export function selectAttributes(
  resource: Resource,
  { attributes, excludedAttributes }: Static<typeof SelectionQuery>,
): Resource {
  const { id, schemas } = resource
  if (attributes !== undefined) return { ...keep(resource, namesIn(attributes)), id, schemas }
  if (excludedAttributes === undefined) return resource
  return { ...drop(resource, namesIn(excludedAttributes)), id, schemas }
}

/** Whether the client wants an attribute that is expensive to read. */
export function isWanted(
  name: string,
  { attributes, excludedAttributes }: Static<typeof SelectionQuery>,
): boolean {
  const isNamed = (names: string): boolean =>
    namesIn(names).some((one) => one === name || one.startsWith(`${name}.`))
  if (attributes !== undefined) return isNamed(attributes)
  return excludedAttributes === undefined || !namesIn(excludedAttributes).includes(name)
}

function namesIn(list: string): string[] {
  return list.split(',').map((name) =>
    name
      .trim()
      .replace(/^urn:.*:/i, '')
      .toLowerCase(),
  )
}

function keep(value: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const lower = name.toLowerCase()
    if (names.includes(lower)) return [[name, member]]
    const parts = partsOf(lower, names)
    return parts.length === 0 ? [] : [[name, ofEach(member, (one) => keep(one, parts))]]
  })
  return Object.fromEntries(kept)
}

function drop(value: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const kept = Object.entries(value).flatMap(([name, member]) => {
    const lower = name.toLowerCase()
    if (names.includes(lower)) return []
    const parts = partsOf(lower, names)
    return [[name, parts.length === 0 ? member : ofEach(member, (one) => drop(one, parts))]]
  })
  return Object.fromEntries(kept)
}

/** The names below an attribute: of `name.givenName` that is `givenName`. */
function partsOf(attribute: string, names: readonly string[]): string[] {
  const start = `${attribute}.`
  return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length))
}

function ofEach(member: unknown, change: (value: Readonly<Record<string, unknown>>) => unknown): unknown {
  if (Array.isArray(member)) return member.map((one: unknown) => ofEach(one, change))
  return isRecord(member) ? change(member) : member
}
