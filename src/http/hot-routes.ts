import type { IncomingMessage } from 'node:http'
import { createRequestId } from '../kernel/identifiers.ts'
import { nextLoopTurn } from '../kernel/turns/loop-turns.ts'
import { AppError } from '../kernel/app-error.ts'
import { editJsonObject } from '../kernel/json/edit-json-object.ts'
import { isRecord } from '../kernel/is-record.ts'
import { stringifyJson } from '../kernel/json/stringify-json.ts'
import type { KeptAnswer } from '../modules/idempotency/idempotency.ts'
import { tagCaller, TAGS_HEADER, type Caller } from '../modules/keys/keys.ts'
import { requireAccess } from './access.ts'
import type { Authenticate } from './authenticate.ts'
import type { ConnectionGate } from './connections/connection-gate.ts'
import type { CorsHeaders } from './answers/cors-headers.ts'
import { BodyCapture } from './answers/capture-bodies.ts'
import { sendError } from './answers/send-error.ts'
import type { ExchangeTracker } from './exchange-tracker.ts'
import type { Exchange } from './exchange.ts'
import { IDEMPOTENCY_HEADER, type RunOnce } from './idempotency.ts'
import type { RequestMessage, ResponseMessage } from './message.ts'
import { isPlainPath, readOtherPaths } from './other-paths.ts'
import type { BodiesInWork } from './bodies/bodies-in-work.ts'
import {
  isLargeText,
  parseBody,
  parseLargeBody,
  refuseRepeated,
  requireSingleMembers,
} from './bodies/parse-body.ts'
import type { RefusedBodies } from './bodies/refused-bodies.ts'
import { readBody } from './bodies/read-body.ts'
import { replayDirectly } from './answers/replay-answer.ts'
import type { DirectRequest, HotRoute } from './route.ts'
import { compileCheck } from './bodies/validate.ts'
import type { LoadGate } from './overload/load-gate.ts'
import { PacedAnswers } from './overload/paced-answers.ts'
import { createOverloadRefusals, overloaded } from './overload/overload-refusal.ts'
import { openAiWire } from '../wires/openai-chat/openai-wire.ts'
import { validatorOf } from './bodies/validator-of.ts'

interface HotRoutesOptions {
  readonly routes: readonly HotRoute[]
  readonly authenticate: Authenticate
  readonly gate: ConnectionGate
  readonly runOnce: RunOnce
  readonly refusedBodies: RefusedBodies
  readonly bodiesInWork: BodiesInWork
  readonly load: LoadGate
  readonly tracker: ExchangeTracker
  readonly bodyBytesMax: number
  /** Whether bodies are kept for the log. */
  readonly keepsBodies: boolean
  /** How many bytes of each body are captured to be stored. Null: none. */
  readonly capturedBytesOf: (caller: Caller) => number | null
  readonly corsHeaders: CorsHeaders
  readonly isClosing: () => boolean
  readonly onError: (error: unknown, exchange: Exchange) => void
}

export interface HotRoutes {
  /** Whether POSTs to this URL are served here. */
  readonly isServed: (url: string) => boolean
  /** @param source the message from which the body is read, or the body if it has been read already */
  readonly serve: (
    incoming: RequestMessage,
    response: ResponseMessage,
    source: IncomingMessage | Buffer,
  ) => void
}

/**
 * The hot routes, served without the framework, which costs more per request than the gateway's own work. The order is the
 * same as everywhere: authenticate, read, validate, then call the route.
 */
export function createHotRoutes(options: HotRoutesOptions): HotRoutes {
  // The first request should not wait for it.
  for (const { body } of options.routes) validatorOf(body)
  const byPath = new Map(
    options.routes.map((route) => [route.path, { route, check: compileCheck(route.body) }]),
  )

  const find = (url: string): FoundRoute | undefined => {
    const path = pathOf(url)
    const route = byPath.get(path)
    if (route !== undefined) return { route, model: null }
    return isPlainPath(path) ? undefined : findOther(path)
  }
  const findOther = (path: string): FoundRoute | undefined => {
    for (const { path: meant, model } of readOtherPaths(path)) {
      const route = byPath.get(meant)
      if (route !== undefined) return { route, model }
    }
    return undefined
  }
  const refuseOverload = createOverloadRefusals()
  const pacedRefusals = new PacedAnswers(REFUSALS)
  /** Refuses a request that has arrived whole, with as little work as possible. Returns false if it has to be served. */
  const refuseEarly = (
    incoming: RequestMessage,
    response: ResponseMessage,
    { path, wire = openAiWire }: HotRoute,
    caller: Caller,
  ): boolean => {
    if (options.load.admits(caller.accountId, path)) return false
    pacedRefusals.add(() => {
      if (response.destroyed) return
      const id = createRequestId(Date.now())
      refuseOverload(response, { id, wire, headers: startHeaders({ id, wire, incoming }) })
    })
    return true
  }
  const startHeaders = ({ id, wire, incoming }: Answered): string[] => {
    const headers = ['x-request-id', id, 'x-content-type-options', 'nosniff']
    const { headersOf } = wire
    if (headersOf !== undefined) headers.push(...headersOf(id))
    if (options.isClosing()) headers.push('connection', 'close')
    const { origin } = incoming.headers
    if (origin !== undefined) headers.push(...options.corsHeaders(origin))
    return headers
  }
  const reading = { bytesMax: options.bodyBytesMax, bodiesInWork: options.bodiesInWork }

  const serve: HotRoutes['serve'] = (incoming, response, source) => {
    const found = find(incoming.url ?? '')
    if (found === undefined) throw new Error(`${incoming.url} is no hot route`)
    const { route, check } = found.route
    const isWhole = Buffer.isBuffer(source)
    const early = options.load.isLimiting && isWhole ? attempt(() => options.authenticate(incoming)) : null
    const known =
      early !== null && 'result' in early && !(early.result instanceof Promise) ? early.result : null
    if (known !== null && refuseEarly(incoming, response, route, known)) return
    const exchange = options.tracker.begin(incoming, response, route.path)
    exchange.pathModel = found.model
    exchange.room = options.bodiesInWork
    if (route.wire !== undefined) exchange.wire = route.wire

    const answer = (caller: Caller): void => {
      if (known === null && !options.load.admits(caller.accountId, route.path)) throw overloaded()
      requireAccess(caller, route.access)
      exchange.caller = caller
      exchange.access = route.access
      const capturedBytes = options.capturedBytesOf(caller)
      if (capturedBytes !== null) exchange.capture = new BodyCapture(response, capturedBytes)
      options.refusedBodies.requireTurn(caller, incoming)
      if (!Buffer.isBuffer(source)) options.gate.release(source.socket)
      readBody(
        exchange,
        source,
        reading,
        (text) => {
          run(() => {
            if (options.keepsBodies && caller.isZeroRetention !== true) exchange.bodyText = text
            exchange.capture?.noteRequest(text, exchange.requestBytes)
            if (isLargeText(text)) {
              exchange.work = answerLarge(text, caller).catch(fail)
              return
            }
            const parsed = parseBody(text)
            requireSingleMembers(text)
            const given = nameModel(parsed, text)
            check(given.body)
            exchange.work = work({ ...given, caller: tag(caller, given.body) }).catch(fail)
          })
        },
        fail,
      )
    }
    /** Gives other requests their turn between the steps. */
    const answerLarge = async (text: string, caller: Caller): Promise<void> => {
      const { value, memoryBytes, repeatedMember } = await parseLargeBody(text)
      options.bodiesInWork.count(exchange, memoryBytes)
      refuseRepeated(repeatedMember)
      await nextLoopTurn()
      const given = nameModel(value, text)
      check(given.body)
      await nextLoopTurn()
      exchange.cancellation.throwIfCancelled()
      await work({ ...given, caller: tag(caller, given.body) })
    }
    const tag = (caller: Caller, body: unknown): Caller => {
      const tagged = tagCaller(caller, { header: incoming.headers[TAGS_HEADER], body })
      exchange.caller = tagged
      return tagged
    }
    const nameModel = (body: unknown, text: string): SentBody =>
      exchange.pathModel === null ? { body, text } : withModel(body, text, exchange.pathModel)
    const work = (given: Pick<DirectRequest<unknown>, 'body' | 'text' | 'caller'>): Promise<void> => {
      const handle = (): Promise<void> =>
        route.handle({ ...given, exchange, headers: startHeaders(exchange) })
      const key = incoming.headers[IDEMPOTENCY_HEADER]
      if (key === undefined) return handle()
      const replay = (kept: KeptAnswer): void => replayDirectly(exchange, startHeaders(exchange), kept)
      return options.runOnce({ exchange, key, body: given.text, replay }, handle)
    }
    const fail = (thrown: unknown): void => {
      const told = options.refusedBodies.count(thrown, exchange)
      if (told instanceof Promise) void told.then(tell)
      else tell(told)
    }
    const tell = (error: unknown): void => {
      options.onError(error, exchange)
      if (!response.headersSent && !response.destroyed) sendError(exchange, error, startHeaders(exchange))
    }
    const run = (work: () => void): void => {
      try {
        work()
      } catch (error) {
        fail(error)
      }
    }

    run(() => {
      if (early !== null && 'error' in early) throw early.error
      const caller = early === null ? options.authenticate(incoming) : early.result
      if (!(caller instanceof Promise)) {
        answer(caller)
        return
      }
      const heldBytes = isWhole ? source.length : 0
      if (!options.gate.hold(heldBytes)) throw tooManyUnknown()
      caller.finally(() => options.gate.giveBack(heldBytes)).then((known) => run(() => answer(known)), fail)
    })
  }

  return { isServed: (url) => find(url) !== undefined, serve }
}

/** Refusals beyond these wait, because each takes as much time as a tenth of an answer. */
const REFUSALS = { perSecond: 2_000, waitMsMax: 700 }

/** What the first headers of an answer depend on. */
type Answered = Pick<Exchange, 'id' | 'wire' | 'incoming'>

function attempt<Result>(work: () => Result): { readonly result: Result } | { readonly error: unknown } {
  try {
    return { result: work() }
  } catch (error) {
    return { error }
  }
}

interface FoundRoute {
  readonly route: { readonly route: HotRoute; readonly check: ReturnType<typeof compileCheck> }
  readonly model: string | null
}

type SentBody = Pick<DirectRequest<unknown>, 'body' | 'text'>

/** Puts the model of the path into the body. */
function withModel(body: unknown, text: string, model: string): SentBody {
  if (!isRecord(body)) return { body, text }
  const named = { ...body, model }
  const edited = editJsonObject(text, new Map([['model', JSON.stringify(model)]]))
  return { body: named, text: edited ?? stringifyJson(named) }
}

function tooManyUnknown(): AppError {
  const message = 'The gateway holds as many requests of unknown keys as it can. Try again shortly.'
  return new AppError('service_unavailable', message, {
    retryAfterSeconds: 1,
    headers: { connection: 'close' },
  })
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
