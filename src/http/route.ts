import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Caller } from '../modules/keys/keys.ts'
import type { Wire } from '../wires/wire.ts'
import type { Access } from './access.ts'
import type { Admission } from './admission.ts'
import type { Exchange } from './exchange.ts'
import type { FormDescription, FormRoom, UploadedFile } from './multipart/form.ts'

/** The description of a route, also used for the reference. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters are written as `:id`. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  /** What the key needs. Null: no key. Every route says it, so that none is open by mistake. */
  readonly access: Access | null
  /** Checks a credential that is no key, before the body is read. Only of routes that need no key. The reference calls it a SCIM token. */
  readonly admit?: (incoming: IncomingMessage) => Promise<Admission>
  /** In a session, the person must have proved in the last minutes who they are. */
  readonly needsConfirmation?: true
  /** The route itself is free; each request that it makes to a model is charged like a chat request. */
  readonly isChargedByCall?: true
  /** Its reads may be as old as a replica of the database is; the answer then says how old. Only routes that decide nothing by them. */
  readonly mayBeOld?: true
  /** Its charges have the tags of the header, and those in the metadata of its body. Hot routes have both. */
  readonly takesTags?: 'header' | 'metadata'
  readonly body?: TSchema
  /** The body is `application/x-www-form-urlencoded` and not JSON. All of its members are text. */
  readonly takesUrlEncoded?: true
  /** The route also accepts `multipart/form-data`, with the members of the body as fields and these files. */
  readonly form?: FormDescription
  readonly query?: TSchema
  readonly params?: TSchema
  /** The path of the route that this one repeats. The reference describes both with the same notes and examples. */
  readonly aliasOf?: string
  /** The wire of its clients. Default: OpenAI's. */
  readonly wire?: Wire
  /** Error statuses for the reference that cannot be derived from the path, method, access and body. */
  readonly otherErrors?: readonly number[]
  /** Schemas of the answers by status, for the reference. Errors are added by the generator. */
  readonly responses: Readonly<Record<number, ResponseDescription>>
}

export interface ResponseDescription {
  readonly description: string
  readonly schema?: TSchema
  /** The content type of the schema. Default: `application/json`. */
  readonly contentType?: string
  /** Other representations of the same answer, by content type. */
  readonly otherTypes?: Readonly<Record<string, TSchema>>
}

/** One route: its schemas and its handler. */
export interface Route<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Params extends TSchema = TSchema,
> extends RouteDescription {
  readonly body?: Body
  readonly query?: Query
  readonly params?: Params
  /**
   * The maximum size of the body, if it differs from the server's limit. Forms have their own limits. A route without a key has to
   * name one: see `requireSmallOpenBodies`.
   */
  readonly bodyLimitBytes?: number
  /** Accepts any content type and does not parse the body. For bodies that are signed or not JSON. */
  readonly takesRawBody?: true
  /**
   * Accepts a JSON body of so many bytes, writes it to disk and does not parse it: it is the only one of `files`. The schema of the body
   * serves the reference only.
   */
  readonly spooledBodyBytesMax?: number
  /**
   * A body above the limit is read and forgotten: `rawBody` is empty, and `exchange.requestBytes` says how long it was. For protocols in which
   * that is no error.
   */
  readonly discardsLargeBody?: true
  /** Takes a compressed body as it is. The route bounds what it unpacks. */
  readonly takesCompressedBody?: true
  /** Takes room for a form before it is read. `release` gives back what the route did not use, and may be called for what it used. */
  readonly room?: {
    take(caller: Caller, params: Static<Params>, bytes: number | null): Promise<FormRoom>
    release(room: FormRoom): Promise<void>
  }
  /** Returns the JSON answer, or writes to the reply itself and returns nothing. */
  readonly handle: (request: RouteRequest<Static<Body>, Static<Query>, Static<Params>>) => Promise<unknown>
}

export interface RouteRequest<Body, Query, Params> {
  /** For a form: its fields, with the types of the schema. */
  readonly body: Body
  /** The files of a form. They are deleted when the route's work is done. */
  readonly files: readonly UploadedFile[]
  /** Of a form, if the route takes room for it. */
  readonly room: FormRoom | null
  readonly query: Query
  readonly params: Params
  /** The raw bytes. Only of routes with `takesRawBody`. */
  readonly rawBody: Buffer
  readonly caller: Caller
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The request's id, cancellation and records. */
  readonly exchange: Exchange<IncomingMessage>
  /** Used to set the status or headers. */
  readonly reply: FastifyReply
}

/** A hot route: a POST that is served without the framework and writes its own answer. */
export interface HotRoute<Body extends TSchema = TSchema> extends RouteDescription {
  readonly isHot: true
  readonly method: 'POST'
  readonly access: Access
  readonly body: Body
  readonly handle: (request: DirectRequest<Static<Body>>) => Promise<void>
}

export interface DirectRequest<Body> {
  readonly body: Body
  /** The JSON text the body was parsed from. */
  readonly text: string
  readonly caller: Caller
  readonly exchange: Exchange
  /** Alternating names and values. The route adds its own and writes them. */
  readonly headers: string[]
}

/** Lets the handler infer the types of the schemas, and erases them from the result so that all routes fit into one table. */
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
