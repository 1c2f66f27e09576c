import cors from '@fastify/cors'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { AppError } from '../kernel/app-error.ts'
import { isRecord } from '../kernel/is-record.ts'
import { messagesWire } from '../wires/anthropic-messages/messages-wire.ts'
import { scimWire } from '../wires/scim/scim-wire.ts'
import type { Wire } from '../wires/wire.ts'
import type { ConnectionGate } from './connections/connection-gate.ts'
import type { ConsoleSite } from './console-site/console-site.ts'
import { EXPOSED_HEADERS } from './answers/cors-headers.ts'
import { errorBodyOf, toErrorAnswer } from './answers/error-envelope.ts'
import type { ExchangeTracker } from './exchange-tracker.ts'
import type { Exchange } from './exchange.ts'
import type { RunOnce } from './idempotency.ts'
import type { UnauthenticatedGuard } from './connections/guard-unauthenticated.ts'
import type { TakeFiles } from './multipart/take-files.ts'
import { createKnownPaths, type KnownPaths } from './known-paths.ts'
import { isAnthropicPath } from './other-paths.ts'
import { requireStorable } from './bodies/parse-body.ts'
import type { LoadGate } from './overload/load-gate.ts'
import { requireRoom } from './overload/require-room.ts'
import type { RefusedBodies } from './bodies/refused-bodies.ts'
import type { BodiesInWork } from './bodies/bodies-in-work.ts'
import { readBody } from './bodies/read-body.ts'
import type { ReadOld } from './answers/tell-as-of.ts'
import { registerRoutes, type RunForAccount } from './register-route.ts'
import { speaksAnthropic } from './speaks-anthropic.ts'
import { requirePlainBody } from './bodies/require-plain-body.ts'
import { OPEN_BODY_BYTES_MAX } from './bodies/require-small-open-bodies.ts'
import type { Idempotency } from '../modules/idempotency/idempotency.ts'
import { isHotRoute, type HotRoute, type Route } from './route.ts'

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange<IncomingMessage>
  }
  interface FastifyContextConfig {
    wire?: Wire
    takesCompressedBody?: true
  }
}

interface FrameworkOptions {
  /** The listening server. The framework only receives requests from it. */
  readonly http: Server
  readonly routes: readonly (Route | HotRoute)[]
  readonly guard: UnauthenticatedGuard
  readonly gate: ConnectionGate
  readonly runOnce: RunOnce
  readonly idempotency: Pick<Idempotency, 'hasEnded'>
  readonly takeFiles: TakeFiles
  readonly refusedBodies: RefusedBodies
  readonly bodiesInWork: BodiesInWork
  readonly runForAccount: RunForAccount
  readonly readOld: ReadOld
  readonly load: LoadGate
  readonly tracker: ExchangeTracker
  readonly corsOrigins: readonly string[]
  readonly bodyBytesMax: number
  /** Null if this process serves no console. */
  readonly consoleSite: ConsoleSite | null
  readonly isClosing: () => boolean
  readonly onError: (error: unknown, exchange: Exchange) => void
}

export interface Framework {
  handle(incoming: IncomingMessage, response: ServerResponse): void
  close(): Promise<void>
}

/** The clients of SCIM name their JSON so. */
const JSON_TYPES = ['application/json', 'application/scim+json']
const PARAM_LENGTH_MAX = 512
const CORS_SECONDS_MAX = 86_400

const refuseSchema = (): never => {
  throw new Error('routes check what they get themselves')
}
/** Without these, Fastify loads compilers of schemas at every start, which no route uses. */
const NO_COMPILERS = { buildValidator: refuseSchema, buildSerializer: refuseSchema }

/** Creates the Fastify instance that serves all routes except the hot ones. */
export async function createFramework(options: FrameworkOptions): Promise<Framework> {
  const { routes, tracker, consoleSite } = options
  const pathModels = new WeakMap<IncomingMessage, string>()
  const knownPaths = createKnownPaths(routes, consoleSite)
  const app = fastify({
    logger: false,
    serverFactory: () => options.http,
    // Routes with a key have their own limit. This one is for everything else.
    bodyLimit: OPEN_BODY_BYTES_MAX,
    return503OnClosing: false,
    // The server has its own listener, which answers with our error envelope in the right order.
    clientErrorHandler: () => {},
    // The router refused the path before any hook ran.
    frameworkErrors: (error, request, reply) => {
      const exchange = tracker.begin(request.raw, reply.raw, 'unmatched')
      useWire(wireOf(request), request, exchange, reply)
      reply.header('x-request-id', exchange.id).header('x-content-type-options', 'nosniff')
      sendError(reply, error, exchange)
    },
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    schemaController: { compilersFactory: NO_COMPILERS },
  })
  // Refuse QUERY like any unknown method, before its body is read.
  app.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true })
  app.decorateRequest('exchange')
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions
    const route = url ?? (consoleSite?.takes(request) === true ? 'console' : 'unmatched')
    const exchange = tracker.begin(request.raw, reply.raw, route)
    request.exchange = exchange
    exchange.room = options.bodiesInWork
    exchange.pathModel = pathModels.get(request.raw) ?? null
    useWire(wireOf(request), request, exchange, reply)
    reply.header('x-request-id', exchange.id)
    reply.header('x-content-type-options', 'nosniff')
    if (options.isClosing()) reply.header('connection', 'close')
    done()
  })
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', async ({ exchange, raw: { headers, socket }, routeOptions }) => {
    const { caller, admission, incoming } = exchange
    if (caller !== null || admission !== null) options.gate.release(socket)
    if (caller !== null) {
      requireRoom(options.load, exchange, caller)
      options.refusedBodies.requireTurn(caller, incoming)
    }
    const isPlain = routeOptions.config.takesCompressedBody !== true
    if (isPlain && headers['content-length'] !== '0') requirePlainBody(headers)
  })
  app.addContentTypeParser(JSON_TYPES, ({ exchange, raw, routeOptions }, _payload, done) => {
    const fail = (error: unknown): void =>
      done(error instanceof Error ? error : new Error('the body cannot be read'))
    const { bodiesInWork } = options
    const bytesMax = routeOptions.bodyLimit
    try {
      readBody(exchange, raw, { bytesMax, bodiesInWork }, (text) => done(null, text), fail)
    } catch (error) {
      fail(error)
    }
  })
  app.addHook('preValidation', async ({ params, query }) => {
    for (const given of [params, query]) requireStorableTexts(given)
  })

  app.setErrorHandler(async (error, { exchange }, reply) => {
    const told = await options.refusedBodies.count(error, exchange)
    options.onError(told, exchange)
    sendError(reply, told, exchange)
    return reply
  })
  app.setNotFoundHandler(async (request, reply) => {
    const error = noRoute(knownPaths, request)
    if (error.code === 'not_found' && consoleSite?.takes(request) === true)
      if (await consoleSite.answer(request, reply)) return reply
    throw error
  })

  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: options.corsOrigins.includes('*') ? '*' : [...options.corsOrigins],
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: [...EXPOSED_HEADERS],
      maxAge: CORS_SECONDS_MAX,
    })
  }
  // Refuses unknown routes before the body is read, and after the headers for other origins are set.
  app.addHook('onRequest', (request, _reply, done) => {
    const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
    done(request.is404 && hasBody ? noRoute(knownPaths, request) : undefined)
  })
  registerRoutes(
    app,
    routes.filter((route): route is Route => !isHotRoute(route)),
    options,
  )
  await app.ready()
  return {
    handle: (incoming, response) => {
      const meant = knownPaths.findMeant(incoming)
      if (meant !== null) {
        incoming.url = meant.url
        if (meant.model !== null) pathModels.set(incoming, meant.model)
      }
      app.routing(incoming, response)
    },
    close: () => app.close(),
  }
}

/** The wire of a route, or the one that clients of an unknown path below Anthropic's routes speak. */
function wireOf({ routeOptions, raw }: FastifyRequest): Wire | undefined {
  const { wire } = routeOptions.config
  if (wire !== undefined) return wire
  const path = raw.url?.split('?', 1)[0] ?? ''
  if (path.startsWith(SCIM_PATH)) return scimWire
  const isAnthropic =
    isAnthropicPath(path) ||
    (MODELS_PATH.test(path) && raw.headers['anthropic-version'] !== undefined) ||
    (FILES_PATH.test(path) && speaksAnthropic(raw.headers))
  return isAnthropic ? messagesWire : undefined
}

const SCIM_PATH = '/scim/'
/** Serves both wires: clients of Anthropic's send the header `anthropic-version`. */
const MODELS_PATH = /^\/v1\/models(?:\/|$)/
const FILES_PATH = /^\/v1\/files(?:\/|$)/

function useWire(
  wire: Wire | undefined,
  { headers }: FastifyRequest,
  exchange: Exchange,
  reply: FastifyReply,
): void {
  if (wire === undefined) return
  exchange.wire = wire
  if (wire.contentTypeFor !== undefined) reply.type(wire.contentTypeFor(headers.accept))
  const own = wire.headersOf?.(exchange.id) ?? []
  for (let index = 0; index + 1 < own.length; index += 2) reply.header(own[index] ?? '', own[index + 1])
}

function isWebSocket({ headers: { upgrade } }: FastifyRequest): boolean {
  return upgrade?.toLowerCase() === 'websocket'
}

/** Codex and others try a WebSocket first, and go on without it at once only after this status. */
function upgradeRequired(allow: string): AppError {
  const message = `WebSockets are not spoken here. This path takes ${allow} over HTTP.`
  return new AppError('upgrade_required', message, {
    headers: { allow, upgrade: 'HTTP/1.1', connection: 'upgrade, close' },
  })
}

function noRoute(knownPaths: KnownPaths, request: FastifyRequest): AppError {
  const path = request.url.split('?', 1)[0] ?? ''
  const methods = knownPaths.methodsOf(path)
  if (methods.length === 0)
    return new AppError('not_found', `No such route: ${request.method} ${path.slice(0, 200)}.`)
  const allow = methods.join(', ')
  if (isWebSocket(request)) return upgradeRequired(allow)
  return new AppError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
}

/** Checks all text of path and query, because routes may use it in database queries. */
function requireStorableTexts(given: unknown): void {
  if (!isRecord(given)) return
  for (const [name, value] of Object.entries(given)) {
    requireStorable('query', name)
    for (const text of [value].flat()) if (typeof text === 'string') requireStorable(name, text)
  }
}

function sendError(reply: FastifyReply, error: unknown, exchange: Exchange<IncomingMessage>): void {
  const answer = toErrorAnswer(error, exchange.id, exchange.caller)
  exchange.errorCode = answer.body.error.code
  exchange.errorMessage = answer.body.error.message
  if (isFormUnread(exchange)) {
    reply.header('connection', 'close')
    lingerBeforeClose(exchange.incoming)
  }
  // The framework forgets the content type when something fails.
  if (exchange.wire.contentTypeFor) reply.type(exchange.wire.contentTypeFor(exchange.incoming.headers.accept))
  void reply.code(answer.status).headers(answer.headers).send(errorBodyOf(answer, exchange.wire))
}

/** Whether a form was refused before it was read completely. Other bodies are small, and Node discards them. */
function isFormUnread({ incoming }: Exchange): boolean {
  return !incoming.complete && incoming.headers['content-type']?.startsWith('multipart/') === true
}

const LINGER_MS_MAX = 30_000

/**
 * Lets the last answer reach a client that is still sending. Closing a socket with unread bytes resets the connection, and the
 * reset may arrive before the answer. So close our side first and discard further input.
 */
function lingerBeforeClose(incoming: IncomingMessage): void {
  const { socket } = incoming
  const closeAtOnce = socket.destroySoon.bind(socket)
  const closeWhenRead = () => {
    if (incoming.complete || incoming.destroyed) {
      closeAtOnce()
      return
    }
    socket.end()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS_MAX)
    socket.once('close', () => clearTimeout(timer))
    incoming.once('end', closeAtOnce)
  }
  // Node's server calls this when the answer has been written.
  socket.destroySoon = closeWhenRead
  incoming.resume()
}
