import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { InferenceResult } from '../../modules/chat/chat.ts'
import type { InferenceRecord, OperationName, WholeAnswer } from '../../modules/inference/inference.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { InferenceSpan, InferenceStart, Tracer } from '../../telemetry/tracing.ts'
import type { Exchange } from '../exchange.ts'
import { admitRequest } from '../answers/rate-headers.ts'
import type { DirectRequest } from '../route.ts'
import {
  endWithError,
  EVENT_STREAM_HEADERS,
  FIRST_KEEP_ALIVE_MS,
  sendEvents,
  startKeepAlive,
} from '../answers/send-events.ts'

/** The members of a request that a trace names and that limits look at. */
interface TracedRequest extends Pick<
  ChatRequest,
  'stream' | 'max_tokens' | 'max_completion_tokens' | 'n' | 'temperature' | 'top_p' | 'seed'
> {
  readonly model?: string | null
}

export type SendInference = <Body extends TracedRequest>(
  request: DirectRequest<Body>,
  record: InferenceRecord,
  start: () => Promise<InferenceResult | WholeAnswer>,
) => Promise<void>

interface SendInferenceOptions {
  readonly limits: Limits
  /** Null while tracing is off. */
  readonly tracer: Tracer | null
  readonly onStreamError: (error: unknown, requestId: string) => void
}

/** How an operation is named in traces, and what it asks of the limits. */
interface OperationTraits {
  readonly category: string
  readonly traced: InferenceStart['operation']
  /** Whether the members of a chat mean something here: elsewhere they are only passed on, whatever they hold. */
  readonly writesText: boolean
  /** Whether it uses tokens; how many is put right at its end. */
  readonly usesTokens: boolean
}

const TRAITS: Readonly<Partial<Record<OperationName, OperationTraits>>> = {
  chat: { category: 'llm', traced: 'chat', writesText: true, usesTokens: true },
  messages: { category: 'llm', traced: 'chat', writesText: true, usesTokens: true },
  responses: { category: 'llm', traced: 'chat', writesText: true, usesTokens: true },
  completion: { category: 'llm', traced: 'text_completion', writesText: true, usesTokens: true },
  embedding: { category: 'embedding', traced: 'embeddings', writesText: false, usesTokens: true },
  rerank: { category: 'rerank', traced: 'rerank', writesText: false, usesTokens: false },
  moderation: { category: 'moderation', traced: 'moderation', writesText: false, usesTokens: false },
}

function traitsOf(operation: OperationName): OperationTraits {
  const traits = TRAITS[operation]
  if (traits === undefined) throw new Error(`'${operation}' is no hot route`)
  return traits
}

/** What every paid route does around its work: admit, run, and answer whole or as a stream with the headers of both. */
export function createSendInference(options: SendInferenceOptions): SendInference {
  return async (request, record, start) => {
    const { caller, exchange, headers } = request
    const traits = traitsOf(record.operation)
    exchange.inference = record
    if (options.tracer)
      exchange.span = startSpan(options.tracer, request, { ...traits, work: record.operation })
    const demand = { caller, category: traits.category, tokens: estimateTokens(request, traits) }
    const admitting = admitRequest(options.limits, demand, headers)
    const admission = admitting instanceof Promise ? await admitting : admitting
    try {
      const running = start()
      if (traits.writesText && request.body.stream === true) {
        await sendStream(request, record, running, (error) => options.onStreamError(error, exchange.id))
        return
      }
      const result = await running
      if (result.kind !== 'complete') throw new Error('a stream came back that was not asked for')
      sendComplete(request, record, result.payload)
    } finally {
      admission.finish(usedUp(record))
    }
  }
}

function startSpan(
  tracer: Tracer,
  request: DirectRequest<TracedRequest>,
  { traced, writesText, work }: OperationTraits & { readonly work: string },
): InferenceSpan {
  const { body, caller, exchange } = request
  const { traceparent } = exchange.incoming.headers
  const maxTokens = body.max_completion_tokens ?? body.max_tokens
  return tracer.startInference({
    operation: traced,
    work,
    model: body.model ?? 'default',
    requestId: exchange.id,
    accountId: caller.accountId,
    isStream: writesText && body.stream === true,
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof body.n === 'number' ? { choiceCount: body.n } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(typeof body.top_p === 'number' ? { topP: body.top_p } : {}),
    ...(typeof body.seed === 'number' ? { seed: body.seed } : {}),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
  })
}

function sendComplete(
  { exchange, headers }: Pick<DirectRequest<unknown>, 'exchange' | 'headers'>,
  record: InferenceRecord,
  payload: WholeAnswer['payload'],
): void {
  const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : countBytes(payload)
  headers.push(
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(bytes),
    'x-gateway-cost-usd',
    formatUsd(record.costNanoUsd ?? 0n),
  )
  pushGatewayHeaders(headers, exchange, record)
  const response = exchange.response.writeHead(200, headers)
  if (typeof payload === 'string') {
    // Text of one byte a character is the same in both encodings, and cheaper in this one.
    response.end(payload, bytes === payload.length ? 'latin1' : 'utf8')
    return
  }
  // Corked, the headers and all pieces leave in one write.
  response.cork()
  for (const piece of payload) response.write(piece)
  response.end()
}

function countBytes(pieces: readonly Buffer[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** Answers with a stream; throws what fails before it begins, which is then a status. */
export async function sendStream(
  { exchange, headers }: Pick<DirectRequest<unknown>, 'exchange' | 'headers'>,
  record: InferenceRecord,
  running: Promise<InferenceResult | WholeAnswer>,
  onError: (error: unknown) => void,
): Promise<void> {
  const { response, id: requestId, wire, recording } = exchange
  const writeHead = () => {
    if (response.destroyed) return
    pushGatewayHeaders(headers, exchange, record)
    response.writeHead(200, [...headers, ...EVENT_STREAM_HEADERS])
  }
  // An upstream may think for minutes, so start the stream before a proxy times out.
  let stopKeepAlive: (() => void) | null = null
  const timer = setTimeout(() => {
    if (response.destroyed) return
    // Start no stream before credit is held, so that a refusal is an HTTP status.
    if (record.balanceNanoUsd === null) return void timer.refresh()
    writeHead()
    stopKeepAlive = startKeepAlive(response, wire)
  }, FIRST_KEEP_ALIVE_MS)
  const stopWaiting = () => {
    clearTimeout(timer)
    stopKeepAlive?.()
  }
  let result: InferenceResult | WholeAnswer
  try {
    result = await running
  } catch (error) {
    stopWaiting()
    if (!response.headersSent) throw error
    onError(error)
    endWithError(response, error, requestId, wire.openStream())
    return
  }
  stopWaiting()
  if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
  if (!response.headersSent) writeHead()
  await sendEvents(response, result.batches, { requestId, onError, recording, wire })
}

function pushGatewayHeaders(headers: string[], exchange: Exchange, record: InferenceRecord): void {
  if (record.provider !== null) headers.push('x-gateway-provider', record.provider)
  if (record.model !== null) headers.push('x-gateway-model', record.model)
  if (record.balanceNanoUsd !== null)
    headers.push('x-gateway-balance-usd', formatBalance(record.balanceNanoUsd))
  const inGatewayMs = performance.now() - exchange.startedMs - record.upstreamMs
  headers.push('x-gateway-latency-ms', Math.max(0, inGatewayMs).toFixed(1))
}

/** Of an answer whose length nobody limits. */
const OUTPUT_TOKENS_GUESS = 1_024
const BYTES_PER_TOKEN = 4

function estimateTokens(
  { body, exchange }: DirectRequest<TracedRequest>,
  { usesTokens, writesText }: OperationTraits,
): number {
  if (!usesTokens) return 0
  const promptTokens = Math.ceil(exchange.requestBytes / BYTES_PER_TOKEN)
  if (!writesText) return promptTokens
  const perChoice = body.max_completion_tokens ?? body.max_tokens ?? OUTPUT_TOKENS_GUESS
  return promptTokens + perChoice * (body.n ?? 1)
}

function usedUp({ usage, costNanoUsd }: InferenceRecord) {
  const tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens
  return { tokens, spentNanoUsd: costNanoUsd ?? 0n }
}

let lastBalance: NanoUsd = 0n
let lastBalanceText = '0'

// Cached, because the same amount is formatted again and again.
function formatBalance(balance: NanoUsd): string {
  if (balance !== lastBalance) {
    lastBalance = balance
    lastBalanceText = formatUsd(balance)
  }
  return lastBalanceText
}
