import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { ChatRequest } from './chat-request.ts'
import type { AnswerEnd, AnswerPiece } from './generate-answer.ts'

interface AnswerOptions {
  readonly response: ServerResponse
  readonly model: string
  readonly request: ChatRequest
  /** Runs the generation. An error before the first piece can still be sent with an HTTP error status. */
  readonly generate: (onPiece: (piece: AnswerPiece) => void) => Promise<AnswerEnd>
}

/** Sends the answer as one JSON body, or as server-sent events while it is generated. */
export function answerChat(options: AnswerOptions): Promise<void> {
  return options.request.stream === true ? answerStreamed(options) : answerWhole(options)
}

async function answerWhole({ response, model, generate }: AnswerOptions): Promise<void> {
  let text = ''
  let thought = ''
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = []
  const end = await generate((piece) => {
    if (piece.kind === 'text') text += piece.text
    else if (piece.kind === 'thought') thought += piece.text
    else if (piece.kind === 'call') calls[piece.index] = newCall(piece.name)
    else {
      const call = calls[piece.index]
      if (call !== undefined) call.function.arguments += piece.text
    }
  })
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  sendJson(response, 200, {
    ...head('chat.completion', model),
    choices: [{ index: 0, message, logprobs: null, finish_reason: end.finishReason }],
    usage: toUsage(end),
  })
}

async function answerStreamed({ response, model, request, generate }: AnswerOptions): Promise<void> {
  const base = head('chat.completion.chunk', model)
  const send = (value: object) => response.write(`data: ${JSON.stringify({ ...base, ...value })}\n\n`)
  const sendDelta = (delta: object, finishReason: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finishReason }] })
  const begin = () => {
    if (response.headersSent) return
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    sendDelta({ role: 'assistant', content: '' })
  }
  const end = await generate((piece) => {
    begin()
    sendDelta(toDelta(piece))
  })
  begin()
  sendDelta({}, end.finishReason)
  if (request.stream_options?.include_usage === true) send({ choices: [], usage: toUsage(end) })
  response.end('data: [DONE]\n\n')
}

function toDelta(piece: AnswerPiece): object {
  if (piece.kind === 'text') return { content: piece.text }
  if (piece.kind === 'thought') return { reasoning_content: piece.text }
  const { index } = piece
  if (piece.kind === 'call') return { tool_calls: [{ index, ...newCall(piece.name) }] }
  return { tool_calls: [{ index, function: { arguments: piece.text } }] }
}

function newCall(name: string) {
  return {
    id: `call_${randomUUID().replaceAll('-', '')}`,
    type: 'function' as const,
    function: { name, arguments: '' },
  }
}

function head(object: string, model: string) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model }
}

function toUsage({ promptTokens, cachedTokens, completionTokens }: AnswerEnd) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  }
}

export function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
