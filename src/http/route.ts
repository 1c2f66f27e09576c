import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Caller, Scope } from '../modules/keys/keys.ts'
import type { Wire } from '../wires/wire.ts'
import type { Exchange } from './exchange.ts'
import type { FormDescription, UploadedFile } from './multipart/form.ts'

/** The scope a key needs; any key will do for `any`, and none for null. */
type RouteScope = Scope | 'any' | null

/** What a line of the API says about itself, in the reference too. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With parameters as `:id`. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly scope: RouteScope
  /** Costs nothing by itself: what it makes the gateway ask of models is charged call by call, as chat is. */
  readonly isChargedByCall?: true
  readonly body?: TSchema
  /** Takes the body as `multipart/form-data` too: its members as fields, and these files. */
  readonly form?: FormDescription
  readonly query?: TSchema
  readonly params?: TSchema
  /** Another path of a route that is described already: the reference leaves it out. */
  readonly isAlias?: true
  /** What its clients speak; OpenAI's unless told. */
  readonly wire?: Wire
  /** Statuses of errors that do not follow from what the route takes and whom it serves, for the reference. */
  readonly otherErrors?: readonly number[]
  /** Schemas of the answers by status, for the reference. Errors are added by the generator. */
  readonly responses: Readonly<Record<number, ResponseDescription>>
}

export interface ResponseDescription {
  readonly description: string
  readonly schema?: TSchema
  /** Of the schema; `application/json` unless told. */
  readonly contentType?: string
  /** Other forms of the same answer, by content type. */
  readonly otherTypes?: Readonly<Record<string, TSchema>>
}

/** One line of the API: what it takes, what it answers, and the one call that does it. */
export interface Route<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Params extends TSchema = TSchema,
> extends RouteDescription {
  readonly body?: Body
  readonly query?: Query
  readonly params?: Params
  /** The largest body in bytes, when it differs from the server's. Forms have bounds of their own. */
  readonly bodyLimitBytes?: number
  /** Takes any content type and leaves the body as it came, for what is signed or is not JSON. */
  readonly takesRawBody?: true
  /** Returns the JSON answer, or writes to the reply itself and returns nothing. */
  readonly handle: (request: RouteRequest<Static<Body>, Static<Query>, Static<Params>>) => Promise<unknown>
}

export interface RouteRequest<Body, Query, Params> {
  /** Of a form its fields, in the types of the schema. */
  readonly body: Body
  /** Of a form; they lie on the disk until the route's work is done. */
  readonly files: readonly UploadedFile[]
  readonly query: Query
  readonly params: Params
  /** The bytes as they came; only of routes that take them so. */
  readonly rawBody: Buffer
  readonly caller: Caller
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** For what has to do with the connection: the request's id, its cancellation, its record. */
  readonly exchange: Exchange<IncomingMessage>
  /** Set the status or headers here. */
  readonly reply: FastifyReply
}

/** A hot line: a POST served past the framework, which writes its own answer. */
export interface HotRoute<Body extends TSchema = TSchema> extends RouteDescription {
  readonly isHot: true
  readonly method: 'POST'
  readonly scope: Scope
  readonly body: Body
  readonly handle: (request: DirectRequest<Static<Body>>) => Promise<void>
}

export interface DirectRequest<Body> {
  readonly body: Body
  /** The JSON text the body was parsed from. */
  readonly text: string
  readonly caller: Caller
  readonly exchange: Exchange
  /** Names and values in turn; the route adds its own and writes them. */
  readonly headers: string[]
}

/** Keeps the types of the schemas for the handler, then forgets them so that routes fit one table. */
export function defineRoute<Body extends TSchema, Query extends TSchema, Params extends TSchema>(
  route: Route<Body, Query, Params>,
): Route {
  return route
}

export function defineHotRoute<Body extends TSchema>(route: HotRoute<Body>): HotRoute {
  return route
}

export function isHotRoute(route: Route | HotRoute): route is HotRoute {
  return 'isHot' in route
}
