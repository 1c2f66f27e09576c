import type { FastifyReply } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Caller, Scope } from '../modules/keys/keys.ts'

/** One line of the API: what it takes, what it answers, and the one call that does it. */
export interface Route<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Params extends TSchema = TSchema,
> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With parameters as `:id`. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** The scope a key needs; null for routes without authentication. */
  readonly scope: Scope | null
  readonly body?: Body
  readonly query?: Query
  readonly params?: Params
  /** Schemas of the answers by status, for the reference. Errors are added by the generator. */
  readonly responses: Readonly<Record<number, ResponseDescription>>
  /** The largest body in bytes, when it differs from the server's. */
  readonly bodyLimitBytes?: number
  /** Returns the JSON answer, or writes to the reply itself and returns nothing. */
  readonly handle: (request: RouteRequest<Static<Body>, Static<Query>, Static<Params>>) => Promise<unknown>
}

export interface ResponseDescription {
  readonly description: string
  readonly schema?: TSchema
  /** `application/json` unless told. */
  readonly contentType?: string
}

export interface RouteRequest<Body, Query, Params> {
  readonly body: Body
  /** The bytes the body was parsed from; empty without a body. */
  readonly rawBody: Buffer
  readonly query: Query
  readonly params: Params
  readonly caller: Caller
  readonly requestId: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Aborts when the client disconnects or the server gives up draining. */
  readonly signal: AbortSignal
  /** Set the status or headers here. */
  readonly reply: FastifyReply
}

/** Keeps the types of the schemas for the handler, then forgets them so that routes fit one table. */
export function defineRoute<Body extends TSchema, Query extends TSchema, Params extends TSchema>(
  route: Route<Body, Query, Params>,
): Route {
  return route
}
