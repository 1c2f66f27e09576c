import type { FastifyReply } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { formatUsd, type NanoUsd } from '../kernel/money.ts'
import type { InferenceRecord, InferenceResult } from '../modules/chat/chat.ts'
import type { Caller } from '../modules/keys/keys.ts'
import type { ChatRequest } from '../providers/chat-wire.ts'
import type { InferenceSpan, Tracer } from '../telemetry/tracing.ts'
import type { Limits } from '../modules/limits/limits.ts'
import {
  EVENT_STREAM_HEADERS,
  endWithError,
  FIRST_KEEP_ALIVE_MS,
  sendEvents,
  startKeepAlive,
} from './send-events.ts'

/** The members of a request that a trace names. */
type TracedRequest = Pick<
  ChatRequest,
  'model' | 'stream' | 'max_tokens' | 'max_completion_tokens' | 'temperature' | 'top_p' | 'seed'
>

interface InferenceExchange {
  readonly request: {
    readonly caller: Caller
    readonly requestId: string
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly body: TracedRequest
    readonly reply: FastifyReply
  }
  readonly record: InferenceRecord
  readonly isStream: boolean
  readonly start: () => Promise<InferenceResult>
}

export type SendInference = (exchange: InferenceExchange) => Promise<void>

interface SendInferenceOptions {
  readonly balanceOf: (accountId: string) => NanoUsd | Promise<NanoUsd>
  readonly limits: Limits
  /** Null while tracing is off. */
  readonly tracer: Tracer | null
  readonly onStreamError: (error: unknown, requestId: string) => void
}

/** What every paid route does around its work: admit, run, and answer whole or as a stream with the headers of both. */
export function createSendInference(options: SendInferenceOptions): SendInference {
  return async (exchange) => {
    const { request, record, isStream } = exchange
    const { caller, reply } = request
    reply.request.state.inference = record
    if (options.tracer) reply.request.state.span = startSpan(options.tracer, exchange)
    admit(options.limits, caller, reply)
    const balance = options.balanceOf(caller.accountId)
    requireCredit(typeof balance === 'bigint' ? balance : await balance, reply)

    const running = exchange.start()
    if (!isStream) {
      const result = await running
      if (result.kind !== 'complete') throw new Error('a stream came back that was not asked for')
      sendComplete(reply, result.payload, record)
      return
    }
    await sendStream(exchange, running, (error) => options.onStreamError(error, request.requestId))
  }
}

function startSpan(tracer: Tracer, { request, record }: InferenceExchange): InferenceSpan {
  const { body, caller, requestId } = request
  const { traceparent } = request.headers
  const maxTokens = body.max_completion_tokens ?? body.max_tokens
  return tracer.startInference({
    operation: record.operation === 'chat' ? 'chat' : 'text_completion',
    model: body.model,
    requestId,
    accountId: caller.accountId,
    isStream: body.stream === true,
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(typeof body.top_p === 'number' ? { topP: body.top_p } : {}),
    ...(typeof body.seed === 'number' ? { seed: body.seed } : {}),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
  })
}

function sendComplete(reply: FastifyReply, payload: Buffer, record: InferenceRecord): void {
  reply.header('content-type', 'application/json; charset=utf-8')
  reply.header('x-gateway-cost-usd', formatUsd(record.costNanoUsd ?? 0n))
  setGatewayHeaders(reply, record)
  reply.send(payload)
}

async function sendStream(
  { request, record }: InferenceExchange,
  running: Promise<InferenceResult>,
  onError: (error: unknown) => void,
): Promise<void> {
  const { reply, requestId } = request
  // An upstream may think for minutes. Before somebody on the way gives up, the stream begins without its first chunk.
  let stopKeepAlive: (() => void) | null = null
  const timer = setTimeout(() => {
    writeStreamHead(reply, record)
    stopKeepAlive = startKeepAlive(reply.raw)
  }, FIRST_KEEP_ALIVE_MS)
  const stopWaiting = () => {
    clearTimeout(timer)
    stopKeepAlive?.()
  }
  let result: InferenceResult
  try {
    result = await running
  } catch (error) {
    stopWaiting()
    if (!reply.raw.headersSent) throw error
    onError(error)
    endWithError(reply.raw, error, requestId)
    return
  }
  stopWaiting()
  if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
  if (!reply.raw.headersSent) writeStreamHead(reply, record)
  await sendEvents(reply.raw, result.batches, { requestId, onError })
}

function writeStreamHead(reply: FastifyReply, record: InferenceRecord): void {
  reply.hijack()
  setGatewayHeaders(reply, record)
  reply.raw.writeHead(200, { ...definedHeaders(reply), ...EVENT_STREAM_HEADERS })
}

function setGatewayHeaders(reply: FastifyReply, record: InferenceRecord): void {
  if (record.provider !== null) reply.header('x-gateway-provider', record.provider)
  const elapsedMs = performance.now() - reply.request.state.startedMs
  reply.header('x-gateway-latency-ms', Math.max(0, elapsedMs - record.upstreamMs).toFixed(1))
}

function definedHeaders(reply: FastifyReply): Record<string, string | number | string[]> {
  const headers: Record<string, string | number | string[]> = {}
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = value
  return headers
}

function admit(limits: Limits, caller: Caller, reply: FastifyReply): void {
  const admission = limits.admit(caller)
  if (!admission.isAdmitted) {
    const { limitRequests, retryAfterSeconds } = admission
    const message = `This key may send ${limitRequests} requests a minute. Try again in ${retryAfterSeconds} s.`
    throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds })
  }
  if (admission.rate === null) return
  reply.header('x-ratelimit-limit-requests', admission.rate.limitRequests)
  reply.header('x-ratelimit-remaining-requests', admission.rate.remainingRequests)
  reply.header('x-ratelimit-reset-requests', `${admission.rate.resetSeconds}s`)
}

function requireCredit(balance: NanoUsd, reply: FastifyReply): void {
  if (balance <= 0n) {
    const message = `The account's balance is ${formatUsd(balance)} USD. Add credit to go on.`
    throw new AppError('insufficient_balance', message)
  }
  reply.header('x-gateway-balance-usd', formatUsd(balance))
}
