import { setTimeout } from 'node:timers/promises'
import {
  startScriptedServer,
  type Reply,
  type ScriptedReply,
  type ScriptedServer,
} from './scripted-server.ts'

export type { RecordedRequest, Reply } from './scripted-server.ts'

export interface OpenAiServer extends ScriptedServer {
  /** Base URL with `/v1`, as an operator configures it. */
  apiUrl: string
  /** The request bodies in order. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
  bodies(): any[]
}

/** Starts a local server for the OpenAI wire, correct or as faulty as a test needs. Answers `completion()` by default. */
export async function startOpenAiServer(fallback: Reply = completion()): Promise<OpenAiServer> {
  const server = await startScriptedServer(fallback)
  return {
    ...server,
    apiUrl: `${server.baseUrl}/v1`,
    bodies: () => server.requests.map(({ body }) => body),
  }
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

interface Members extends Record<string, unknown> {
  message?: Record<string, unknown>
  choices?: unknown
}

/** Returns a complete answer as OpenAI formats it, with some members changed. */
export function completion({ message = {}, ...members }: Members = {}): ScriptedReply {
  return json({
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_750_000_000,
    model: 'upstream-model-2026-01-31',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello there', refusal: null, ...message },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
    system_fingerprint: 'fp_upstream',
    ...members,
  })
}

export function textCompletion(members: Record<string, unknown> = {}): ScriptedReply {
  return json({
    id: 'cmpl-upstream',
    object: 'text_completion',
    created: 1_750_000_000,
    model: 'upstream-model-2026-01-31',
    choices: [{ text: ' and so on', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
    ...members,
  })
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): ScriptedReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [typeof body === 'string' ? body : JSON.stringify(body)],
  }
}

/** OpenAI's error envelope. */
export function failure(
  status: number,
  error: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): ScriptedReply {
  return json(
    { error: { message: 'upstream secret words', type: 'server_error', param: null, code: null, ...error } },
    status,
    headers,
  )
}

export function htmlPage(status: number): ScriptedReply {
  return {
    status,
    headers: { 'content-type': 'text/html' },
    chunks: ['<html><body><h1>Bad gateway at 10.1.2.3</h1></body></html>'],
  }
}

interface ChunkMembers extends Record<string, unknown> {
  delta?: Record<string, unknown>
  finish_reason?: string | null
}

/** Returns one `chat.completion.chunk`, with some members changed. */
export function chunk({ delta = {}, finish_reason = null, ...members }: ChunkMembers = {}) {
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_750_000_000,
    model: 'upstream-model-2026-01-31',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...members,
  }
}

/** Returns the chunks of a valid stream with these texts. */
export function chunksOf(...texts: readonly string[]): Record<string, unknown>[] {
  return [
    chunk({ delta: { role: 'assistant', content: '' } }),
    ...texts.map((content) => chunk({ delta: { content } })),
    chunk({ finish_reason: 'stop' }),
    chunk({ choices: [], usage: USAGE }),
  ]
}

interface StreamOptions {
  ending?: 'done' | 'end' | 'cut' | 'hang'
  newline?: string
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/**
 * Returns a stream of events, one per entry. A string is written unchanged. `done` ends with `[DONE]`, other endings without it.
 */
export function stream(
  entries: readonly (string | object)[],
  { ending = 'done', newline = '\n' }: StreamOptions = {},
): ScriptedReply {
  const chunks = entries.map((entry) => (typeof entry === 'string' ? entry : event(entry, newline)))
  if (ending === 'done') chunks.push(`data: [DONE]${newline}${newline}`)
  return { headers: STREAM_HEADERS, chunks, ending: ending === 'done' ? 'end' : ending }
}

export function event(payload: object, newline = '\n'): string {
  return `data: ${JSON.stringify(payload)}${newline}${newline}`
}

export interface PacedStream {
  reply: ScriptedReply
  /** Sends the next chunk. */
  release(entry: string | object): void
  /** Sends `[DONE]` and ends the stream. */
  finish(): void
}

/** Returns a stream whose chunks the test releases one by one. */
export function pacedStream(): PacedStream {
  const waiting: string[] = []
  let isFinished = false
  let wake = () => {}
  async function* chunks(): AsyncGenerator<string> {
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (isFinished) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  const release = (entry: string | object) => {
    waiting.push(typeof entry === 'string' ? entry : event(entry))
    wake()
  }
  return {
    reply: { headers: STREAM_HEADERS, chunks: [], more: chunks() },
    release,
    finish() {
      isFinished = true
      release('data: [DONE]\n\n')
    },
  }
}

/** Returns a stream that never ends, and counts the bytes it could write. It waits `pauseMs` after each entry. */
export function endlessStream(
  entry: string | object = chunk({ delta: { content: 'x'.repeat(1000) } }),
  pauseMs = 0,
) {
  const written = { bytes: 0 }
  const text = typeof entry === 'string' ? entry : event(entry)
  async function* chunks(): AsyncGenerator<string> {
    for (;;) {
      yield text
      written.bytes += text.length
      if (pauseMs > 0) await setTimeout(pauseMs)
    }
  }
  const reply: ScriptedReply = { headers: STREAM_HEADERS, chunks: [], more: chunks() }
  return { written, reply }
}

/** Accepts the request and sends nothing, not even a status. */
export const silence: Reply = () => new Promise(() => {})

/** Returns a status and headers, and no body. */
export function headersOnly(contentType: string): ScriptedReply {
  return { headers: { 'content-type': contentType }, chunks: [], ending: 'hang' }
}

/** Holds the whole answer until the test releases it. */
export function heldBack(reply: ScriptedReply): { reply: Reply; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { reply: () => promise.then(() => reply), release: resolve }
}

/** Bytes that are not HTTP. */
export const notHttp: Reply = ({ socket }) => {
  socket.end('220 mail.example.com ESMTP ready\r\n')
  return new Promise(() => {})
}

/** Announces more bytes than it sends. */
export function shortBody(): ScriptedReply {
  const { headers, chunks } = completion()
  return { headers: { ...headers, 'content-length': '100000' }, chunks, ending: 'cut' }
}

/** Returns an address on which no server listens. */
export async function refusedUrl(): Promise<string> {
  const server = await startScriptedServer(completion())
  await server.close()
  return `${server.baseUrl}/v1`
}
