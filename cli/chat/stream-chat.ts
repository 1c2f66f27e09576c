import type { Schemas } from '../api/gateway-client.ts'
import { readEvents } from '../api/read-events.ts'
import type { CommandContext } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../output/printable.ts'

type Content =
  | string
  | readonly ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly { role: 'system' | 'user' | 'assistant'; content: Content }[]
  readonly max_tokens?: number
  readonly reasoning_effort?: string
  readonly response_format?: object
}

interface Chunk {
  readonly model?: string
  readonly choices?: readonly { readonly delta?: Delta; readonly finish_reason?: string | null }[]
  readonly usage?: Schemas['Usage'] | null
  readonly error?: { readonly message?: string }
}

interface Delta {
  readonly content?: string | null
  readonly reasoning_content?: string | null
}

interface ChatEnd {
  readonly model: string
  readonly text: string
  readonly usage: Schemas['Usage'] | null
}

/** Asks a model and prints its answer as it arrives: the text as data, the reasoning dimmed beside it. */
export async function streamChat(
  { output, connect }: CommandContext,
  request: ChatRequest,
  onEnd: (end: ChatEnd) => void,
): Promise<ChatEnd> {
  const response = await connect().send('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
  })
  if (response.body === null) throw new CommandFailure(EXIT.failed, 'The gateway sent no answer.')
  let end: ChatEnd = { model: request.model, text: '', usage: null }
  let isDone = false
  for await (const data of readEvents(response.body)) {
    if (data === '[DONE]') {
      isDone = true
      continue
    }
    const chunk = JSON.parse(data) as Chunk
    if (chunk.error !== undefined) throw cutShort(output, end, chunk.error.message ?? 'unknown reason')
    const delta = chunk.choices?.[0]?.delta
    if (delta?.reasoning_content && output.isTerminal)
      output.write(output.style('dim', printable(delta.reasoning_content)))
    const text = delta?.content ?? ''
    // A pipe gets the bytes of the model; a screen must not obey them.
    if (text !== '') output.write(output.isTerminal ? printable(text) : text)
    end = {
      model: chunk.model ?? end.model,
      text: end.text + text,
      usage: chunk.usage ?? end.usage,
    }
  }
  if (!isDone) throw cutShort(output, end, 'the connection ended')
  output.write('\n')
  onEnd(end)
  return end
}

function cutShort(output: CommandContext['output'], { text }: ChatEnd, reason: string): CommandFailure {
  if (text !== '') output.write('\n')
  return new CommandFailure(EXIT.failed, `The answer is not complete: ${reason}`)
}
