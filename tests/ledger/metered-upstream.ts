import { isRecord } from '../../src/kernel/is-record.ts'
import {
  chunk,
  completion,
  event,
  startOpenAiServer,
  type OpenAiServer,
  type RecordedRequest,
} from '../upstreams/openai-server.ts'
import type { ScriptedReply } from '../upstreams/scripted-server.ts'
import { randomShare } from '../support/random-share.ts'

export interface MeteredUpstream extends OpenAiServer {
  /** The reported usage, by the gateway's request id. */
  readonly reported: ReadonlyMap<string, ReportedUsage>
  /** Returns the gateway's ids of the requests whose last message has this content. */
  requestIdsOf(content: string): readonly string[]
}

interface ReportedUsage {
  readonly promptTokens: number
  readonly completionTokens: number
}

export interface MeteredUpstreamOptions {
  /** How long an answer takes. */
  readonly latencyMs?: () => number
  /** The tokens of an answer, up to the requested limit. A random number unless told. */
  readonly tokensOf?: (tokensMax: number) => number
}

const PROMPT_TOKENS = 5
/** The maximum number of output tokens if a request sets no limit. */
const COMPLETION_TOKENS_MAX = 400
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Starts an upstream that answers each request with a number of tokens up to the requested limit. */
export async function startMeteredUpstream({
  latencyMs = () => 0,
  tokensOf = (tokensMax) => 1 + Math.floor(randomShare() * tokensMax),
}: MeteredUpstreamOptions = {}): Promise<MeteredUpstream> {
  const reported = new Map<string, ReportedUsage>()
  const requestIds = new Map<string, string[]>()
  const server = await startOpenAiServer(async (request) => {
    const requestId = String(request.headers['x-request-id'])
    const { isStream, tokensMax, content } = readRequest(request)
    const completionTokens = tokensOf(Math.min(tokensMax, COMPLETION_TOKENS_MAX))
    reported.set(requestId, { promptTokens: PROMPT_TOKENS, completionTokens })
    requestIds.set(content, [...(requestIds.get(content) ?? []), requestId])
    const usage = usageOf(completionTokens)
    const pauseMs = latencyMs()
    if (isStream) return streamOf(usage, pauseMs)
    if (pauseMs > 0) await passed(pauseMs)
    return completion({ usage })
  })
  return { ...server, reported, requestIdsOf: (content) => requestIds.get(content) ?? [] }
}

export function usageOf(completionTokens: number, promptTokens = PROMPT_TOKENS) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

function readRequest({ body }: RecordedRequest) {
  if (!isRecord(body)) throw new Error('the gateway sent no object')
  const { stream, messages } = body
  // Reasoning models use the newer parameter name.
  const tokensMax = body['max_completion_tokens'] ?? body['max_tokens']
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null
  return {
    isStream: stream === true,
    tokensMax: typeof tokensMax === 'number' ? tokensMax : COMPLETION_TOKENS_MAX,
    content: isRecord(last) ? String(last['content']) : '',
  }
}

function streamOf(usage: object, pauseMs: number): ScriptedReply {
  const head = [
    chunk({ delta: { role: 'assistant', content: 'Hello' } }),
    chunk({ delta: { content: ' there' } }),
  ]
  const tail = [chunk({ finish_reason: 'stop' }), chunk({ choices: [], usage })]
  const ending = tail.map((entry) => event(entry)).join('') + 'data: [DONE]\n\n'
  async function* rest(): AsyncGenerator<string> {
    if (pauseMs > 0) await passed(pauseMs)
    yield ending
  }
  return { headers: STREAM_HEADERS, chunks: head.map((entry) => event(entry)), more: rest() }
}

function passed(timeMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, timeMs)
  })
}
