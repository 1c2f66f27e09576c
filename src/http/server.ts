import type { AddressInfo } from 'node:net'
import cors from '@fastify/cors'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { createToken } from '../kernel/identifiers.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Authenticate } from './authenticate.ts'
import { answerClientError } from './answer-client-error.ts'
import { toAppError, toErrorAnswer } from './error-envelope.ts'
import { matchPath } from './match-path.ts'
import { observeRequests, type FinishedExchange } from './observe-requests.ts'
import { registerRoute } from './register-route.ts'
import { ClientDisconnected } from './request-state.ts'
import type { Route } from './route.ts'

export interface ServerOptions {
  readonly routes: readonly Route[]
  readonly authenticate: Authenticate
  readonly logger: Logger
  readonly observer: { started(route: string): void; finished(exchange: FinishedExchange): void }
  /** Origins whose browsers may call the API; `*` for all. */
  readonly corsOrigins: readonly string[]
  readonly bodyBytesMax: number
  /** For a client to send its whole request. */
  readonly requestMsMax: number
  /** Addresses whose `x-forwarded-for` is believed. */
  readonly trustedProxies: readonly string[]
}

export interface Server {
  listen(options: { host: string; port: number; sharePort: boolean }): Promise<{ host: string; port: number }>
  /** Stops accepting, lets what runs finish for so long, then aborts it. */
  close(options: { graceMs: number }): Promise<void>
}

const HEADERS_MS_MAX = 15_000
const KEEP_ALIVE_MS = 72_000
const PARAM_LENGTH_MAX = 512
const ABORTED_MS_MAX = 2_000
const CORS_SECONDS_MAX = 86_400
const GATEWAY_HEADERS = ['cost-usd', 'balance-usd', 'provider', 'latency-ms'].map(
  (name) => `x-gateway-${name}`,
)

export async function createServer(options: ServerOptions): Promise<Server> {
  const { routes, logger } = options
  const app = fastify({
    logger: false,
    genReqId: () => createToken('req_'),
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    bodyLimit: options.bodyBytesMax,
    requestTimeout: options.requestMsMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) =>
      sendError(reply as unknown as FastifyReply, error, request.id),
    http: { headersTimeout: HEADERS_MS_MAX, connectionsCheckingInterval: 5_000 },
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
  })

  const inFlight = observeRequests(app, options.observer)
  let isClosing = false
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    if (isClosing) reply.header('connection', 'close')
    done()
  })
  // Bytes as they came: routes parse them once, and passthrough forwards them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error)
    if (known.code === 'internal_error' && !(error instanceof ClientDisconnected))
      logger.error({ err: error, requestId: request.id }, 'a request failed')
    sendError(reply, known, request.id)
  })
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = routes.filter((route) => matchPath(route.path, path)).map((route) => route.method)
    if (methods.length === 0)
      throw new AppError('not_found', `No such route: ${request.method} ${path.slice(0, 200)}.`)
    const allow = [...new Set(methods)].join(', ')
    throw new AppError('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
  })

  if (options.corsOrigins.length > 0) await allowOrigins(app, options.corsOrigins)
  for (const route of routes) registerRoute(app, route, options.authenticate)

  return {
    async listen({ host, port, sharePort }) {
      await app.listen({ host, port, ...(sharePort ? { reusePort: true } : {}) })
      const address = app.server.address() as AddressInfo
      return { host, port: address.port }
    },

    async close({ graceMs }) {
      isClosing = true
      const closed = app.close()
      const isDrained = await settlesWithin(inFlight.drained(), graceMs)
      if (!isDrained) {
        logger.warn(
          { requests: inFlight.count() },
          'requests still running after the grace period are aborted',
        )
        inFlight.abortAll(
          new AppError('service_unavailable', 'The gateway is shutting down.', { retryAfterSeconds: 1 }),
        )
        await settlesWithin(inFlight.drained(), ABORTED_MS_MAX)
      }
      app.server.closeAllConnections()
      await closed
    },
  }
}

async function allowOrigins(app: FastifyInstance, origins: readonly string[]): Promise<void> {
  await app.register(cors, {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: ['x-request-id', 'retry-after', ...GATEWAY_HEADERS],
    maxAge: CORS_SECONDS_MAX,
  })
}

function sendError(reply: FastifyReply, error: unknown, requestId: string): void {
  const answer = toErrorAnswer(error, requestId)
  void reply.code(answer.status).headers(answer.headers).send(answer.body)
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
