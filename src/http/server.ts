import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { AppError } from '../kernel/app-error.ts'
import { ClientDisconnected } from '../kernel/client-disconnected.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Caller } from '../modules/keys/keys.ts'
import type { Limits } from '../modules/limits/limits.ts'
import type { OwnFiles } from '../modules/media/media.ts'
import type { Idempotency } from '../modules/idempotency/idempotency.ts'
import { answerClientError } from './connections/answer-client-error.ts'
import { refuseBadHost } from './connections/check-host.ts'
import { ConnectionGate } from './connections/connection-gate.ts'
import { openListeners, type Listeners } from './connections/open-listeners.ts'
import { WaitingConnections } from './connections/waiting-connections.ts'
import type { ConsoleSite } from './console-site/console-site.ts'
import { createCorsHeaders } from './answers/cors-headers.ts'
import { createHotRoutes } from './hot-routes.ts'
import { isDependencyLoss, toAppError } from './answers/error-envelope.ts'
import { ExchangeTracker, type ExchangeObserver } from './exchange-tracker.ts'
import type { Exchange } from './exchange.ts'
import { createFastHttp1 } from './fast-http1/fast-http1.ts'
import { createFramework } from './framework.ts'
import { createRunOnce } from './idempotency.ts'
import type { UnauthenticatedGuard } from './connections/guard-unauthenticated.ts'
import { createSpool } from './multipart/spool.ts'
import { createTakeFiles } from './multipart/take-files.ts'
import { BodiesInWork } from './bodies/bodies-in-work.ts'
import { createRefusedBodies } from './bodies/refused-bodies.ts'
import { requireSmallOpenBodies } from './bodies/require-small-open-bodies.ts'
import { LoadGate, type LoadGateObserver } from './overload/load-gate.ts'
import { measureTurns } from './overload/measure-turns.ts'
import type { ReadOld } from './answers/tell-as-of.ts'
import type { RunForAccount } from './register-route.ts'
import { isHotRoute, type HotRoute, type Route } from './route.ts'
import { PROBE_PATHS } from './connections/probe-paths.ts'

export interface ServerOptions {
  readonly routes: readonly (Route | HotRoute)[]
  readonly guard: UnauthenticatedGuard
  /** Null if this process serves no console. */
  readonly consoleSite: ConsoleSite | null
  readonly limits: Pick<Limits, 'countRefused' | 'secondsToRest'>
  readonly idempotency: Idempotency
  /** Reads files that clients refer to by a URL of this gateway. */
  readonly media: OwnFiles
  readonly logger: Logger
  readonly observer: ExchangeObserver
  /** Sets the time in request ids, by which usage is stored. */
  readonly clock: Clock
  /** Origins whose browsers may call the API; `*` for all. */
  readonly corsOrigins: readonly string[]
  readonly bodyBytesMax: number
  /** Memory for the bodies of all running requests. */
  readonly bodiesInWorkBytesMax: number
  readonly runForAccount: RunForAccount
  readonly readOld: ReadOld
  /** Directory for uploaded files while their requests run. */
  readonly uploadDirectory: string
  /** Maximum number of client connections. */
  readonly connectionsMax: number
  /** Maximum number of connections beyond it that are being told so. */
  readonly refusedMax: number
  /** Maximum bytes of requests whose key is not known yet, over all connections. */
  readonly unauthenticatedBytesMax: number
  /** Whether a key is cached. */
  readonly isKnownKey: (token: string) => boolean
  readonly onConnectionRefused: () => void
  readonly overload: OverloadOptions
  /** Whether simple requests are read without Node's HTTP server. */
  readonly isFast: boolean
  /** Maximum time for a client to send its whole request. */
  readonly requestMsMax: number
  /** Keeps the text of inference requests for the log. */
  readonly keepsBodies: boolean
  /** How many bytes of each body are captured to be stored. Null: none. */
  readonly capturedBytesOf: (caller: Caller) => number | null
}

export interface OverloadOptions {
  /** Loop turns that take longer mean overload. 0 refuses nothing. */
  readonly turnMsMax: number
  /** Requests that run or began in the last second and are always taken. */
  readonly unitsMin: number
  readonly observer: LoadGateObserver
  /** Replaces the measurement, for tests. Returns a function that stops it. */
  readonly measureTurns?: typeof measureTurns | undefined
}

export interface Server {
  /** The running requests, in no order. */
  listExchanges(): readonly Exchange[]
  /** Binds the port. Connections wait until `open` is called. */
  listen(options: { host: string; port: number; sharePort: boolean }): Promise<{ host: string; port: number }>
  /** Serves the connections that wait, and from now on every other. */
  open(): void
  /** The callers of running requests by key id. */
  runningCallers(): ReadonlyMap<string, Caller>
  /** The ids of the sessions of running requests. */
  runningSessions(): ReadonlySet<string>
  /** The ids of the signed-in tools of running requests. */
  runningGrants(): ReadonlySet<string>
  /** Ends the running requests of these callers with this error; a stream gets it as its last frame. */
  endRequestsOf(isMeant: (caller: Caller) => boolean, reason: AppError): void
  /** Ends the running requests of this key that it may not make any more. */
  endForbiddenRequests(caller: Caller): void
  /** Stops accepting, ends streams that only follow stored work, waits this long for other requests, then aborts them. */
  close(options: { graceMs: number; beforeAborting?: () => void }): Promise<void>
}

const HEADERS_MS_MAX = 15_000
const KEEP_ALIVE_MS = 72_000
const ABORTED_MS_MAX = 2_000
const NO_BYTES = Buffer.alloc(0)

/**
 * Creates the listening server. Hot routes are served directly, all others through the framework. Connections start without
 * Node's HTTP server and are handed to it when a request is not simple.
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { routes, logger } = options
  requireSmallOpenBodies(routes)
  const tracker = new ExchangeTracker(options.observer, options.clock)
  let isClosing = false
  const logDefect = (error: unknown, { id }: Exchange): void => {
    const isDefect = toAppError(error).code === 'internal_error' || isDependencyLoss(error)
    if (!isDefect || error instanceof ClientDisconnected) return
    logger.error({ err: error, requestId: id }, 'a request failed')
  }
  const runOnce = createRunOnce({ idempotency: options.idempotency, logger })
  const spool = createSpool({ parentDirectory: options.uploadDirectory, logger })
  const takeFiles = createTakeFiles({ spool, media: options.media })
  const gate = new ConnectionGate({
    ...options,
    isTrusted: (bytes) => isTrustedHead(bytes, options.isKnownKey),
    onRefused: options.onConnectionRefused,
  })
  const load = new LoadGate({ ...options.overload, listRunning: () => tracker.accounts() })
  const stopMeasuring = (options.overload.measureTurns ?? measureTurns)((turnMs, nowMs) =>
    load.noteTurn(turnMs, nowMs),
  )
  const shared = {
    ...options,
    gate,
    runOnce,
    takeFiles,
    refusedBodies: createRefusedBodies(options),
    bodiesInWork: new BodiesInWork({ bytesMax: options.bodiesInWorkBytesMax }),
    tracker,
    load,
    isClosing: () => isClosing,
    onError: logDefect,
  }
  const direct = createHotRoutes({
    ...shared,
    authenticate: options.guard.authenticate,
    routes: routes.filter(isHotRoute),
    corsHeaders: createCorsHeaders(options.corsOrigins),
  })
  const http = createHttpServer({
    headersTimeout: HEADERS_MS_MAX,
    requestTimeout: options.requestMsMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5_000,
    // Checked below, to answer with our envelope.
    requireHostHeader: false,
  })
  http.on('clientError', answerClientError)
  const serveByNode = takeConnections(http)
  const fast = createFastHttp1({
    isServed: direct.isServed,
    serve: direct.serve,
    isClosing: shared.isClosing,
    serveByNode,
    gate,
    keepAliveMs: KEEP_ALIVE_MS,
  })
  const serveConnection = (socket: Socket): void => {
    if (options.isFast) fast.accept(socket)
    else if (gate.enterNode(socket, NO_BYTES)) serveByNode(socket)
  }
  const waiting = new WaitingConnections(serveConnection)
  http.on('connection', (socket) => {
    if (gate.admit(socket)) waiting.add(socket)
  })
  const framework = await createFramework({ ...shared, http })
  let listeners: Listeners | null = null
  http.on('request', (incoming, response) => {
    if (refuseBadHost(incoming, response)) return
    if (incoming.method === 'POST' && direct.isServed(incoming.url ?? ''))
      direct.serve(incoming, response, incoming)
    else framework.handle(incoming, response)
  })

  return {
    listExchanges: () => tracker.running,

    async listen(where) {
      listeners = await openListeners(http, where)
      return listeners
    },

    open: () => waiting.open(),

    runningCallers: () => tracker.callers(),
    runningSessions: () => tracker.sessionIds(),
    runningGrants: () => tracker.grantIds(),
    endRequestsOf: (isMeant, reason) => tracker.cancelOf(isMeant, reason),
    endForbiddenRequests: (caller) => tracker.cancelForbidden(caller),

    async close({ graceMs, beforeAborting }) {
      isClosing = true
      tracker.shutdown.cancel(
        new AppError('service_unavailable', 'The gateway is shutting down. Connect again to go on.', {
          retryAfterSeconds: 1,
        }),
      )
      const closed = new Promise<void>((resolve) => {
        http.close(() => resolve())
      })
      listeners?.close()
      waiting.close()
      http.closeIdleConnections()
      fast.closeIdle()
      if (!(await settlesWithin(tracker.drained(), graceMs))) {
        beforeAborting?.()
        logger.warn({ requests: tracker.count }, 'requests still running after the grace period are aborted')
        tracker.cancelAll(
          new AppError('service_unavailable', 'The gateway is shutting down.', { retryAfterSeconds: 1 }),
        )
        await settlesWithin(tracker.drained(), ABORTED_MS_MAX)
      }
      http.closeAllConnections()
      fast.close()
      await closed
      stopMeasuring()
      await framework.close()
      await spool.close()
    },
  }
}

/** Takes new connections away from the HTTP server. Returns a function that hands one connection back to it. */
function takeConnections(http: HttpServer): (socket: Socket) => void {
  const listeners = http.listeners('connection')
  http.removeAllListeners('connection')
  return (socket) => {
    for (const listener of listeners) Reflect.apply(listener, http, [socket])
  }
}

async function settlesWithin(work: Promise<void>, timeMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs)
  })
  const isSettled = await Promise.race([work.then(() => true), expired])
  clearTimeout(timer)
  return isSettled
}

const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_BYTES_MAX = 16 * 1024
const KEY = /\r\n(?:authorization:[ \t]{0,8}bearer |(?:x-)?api-key:[ \t]{0,8})([\w-]{1,250})[ \t]{0,8}\r\n/i

/**
 * Returns whether a request may be read although the limit for unauthenticated bytes is reached: its head is complete and has a
 * cached key, or it is a health probe. It is authenticated afterwards like any other request.
 */
function isTrustedHead(bytes: Buffer, isKnownKey: (token: string) => boolean): boolean {
  const end = bytes.indexOf(HEAD_END)
  if (end === -1 || end > HEAD_BYTES_MAX) return false
  const head = bytes.toString('latin1', 0, end + LINE_END_LENGTH)
  const path = /^GET (\/[a-z]{1,20}) HTTP\/1\.[01]\r\n/.exec(head)?.[1]
  if (path !== undefined && PROBE_PATHS.has(path)) return true
  const token = KEY.exec(head)?.[1]
  return token !== undefined && isKnownKey(token)
}

/** The line break of the last header, which the pattern needs. */
const LINE_END_LENGTH = 2
