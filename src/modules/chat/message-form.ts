import { editJsonObject } from '../../kernel/edit-json-object.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import { mergeUsage, readUsage, type TokenUsage } from '../inference/inference.ts'
import { settleUsage, type AnswerContext } from './answer-context.ts'
import type { AnswerForm, StreamReader } from './answer-form.ts'
import { garbage } from './answer-payload.ts'
import { DeliveredText } from './delivered-text.ts'
import { readEventPayload } from './read-event-payload.ts'

const STREAM_BYTES_MAX = 256 * 1024 * 1024

/** Messages of Anthropic's wire. */
export const MESSAGE_FORM: AnswerForm = {
  finish(payload, context) {
    const { provider, requestedModel, record } = context
    const text = payload.toString()
    const message = readEventPayload(provider, text)
    const { content, usage: reported } = message
    if (message['type'] !== 'message' || !Array.isArray(content))
      throw garbage(provider, 'it sent an object that is not a message')
    const delivered = new DeliveredText()
    for (const block of content) if (isRecord(block)) noteBlock(block, delivered)
    const usage = settleUsage(context, readUsage(reported), delivered)
    const told = formatMessageUsage(usage, record.costNanoUsd ?? 0n, reported)
    const edits = new Map([['usage', JSON.stringify(told)]])
    if (message['model'] !== requestedModel) edits.set('model', JSON.stringify(requestedModel))
    return editJsonObject(text, edits) ?? JSON.stringify({ ...message, model: requestedModel, usage: told })
  },
  openStream: (context) => new MessageReader(context),
}

/** Passes the events of a message on, and keeps the last two until its charge is durable. */
class MessageReader implements StreamReader {
  readonly #context: AnswerContext
  #bytes = 0
  #ending: Record<string, unknown> | null = null
  #usageMembers: Record<string, unknown> = {}
  reportedUsage: TokenUsage | null = null
  readonly delivered = new DeliveredText()
  hasFinished = false

  constructor(context: AnswerContext) {
    this.#context = context
  }

  read(payload: Buffer): Buffer | null {
    const { provider } = this.#context
    this.#bytes += payload.length
    if (this.#bytes > STREAM_BYTES_MAX)
      throw garbage(provider, `it streamed more than ${STREAM_BYTES_MAX} bytes`)
    const event = readEventPayload(provider, payload.toString())
    switch (event['type']) {
      case 'message_start':
        return this.#start(event)
      case 'content_block_start':
        if (isRecord(event['content_block'])) noteBlock(event['content_block'], this.delivered)
        return payload
      case 'content_block_delta':
        if (isRecord(event['delta'])) noteBlock(event['delta'], this.delivered)
        return payload
      case 'message_delta':
        this.#noteUsage(event['usage'])
        this.#ending = event
        this.hasFinished = true
        return null
      case 'message_stop':
        return null
      default:
        return payload
    }
  }

  end(usage: TokenUsage, costNanoUsd: NanoUsd): Buffer[] {
    const ending = this.#ending ?? {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
    }
    const told = formatMessageUsage(usage, costNanoUsd, this.#usageMembers)
    return [Buffer.from(JSON.stringify({ ...ending, usage: told })), MESSAGE_STOP]
  }

  #start(event: Record<string, unknown>): Buffer {
    const message = isRecord(event['message']) ? event['message'] : {}
    this.#noteUsage(message['usage'])
    const usage = message['usage'] ?? formatMessageUsage(NOTHING_YET, 0n, {})
    return Buffer.from(
      JSON.stringify({ ...event, message: { ...message, model: this.#context.requestedModel, usage } }),
    )
  }

  /** The output grows from event to event; the input is told by the first, or by the last as well. */
  #noteUsage(members: unknown): void {
    if (!isRecord(members)) return
    this.#usageMembers = { ...this.#usageMembers, ...withoutNulls(members) }
    const reported = readUsage(this.#usageMembers)
    if (reported === null) return
    this.reportedUsage = this.reportedUsage === null ? reported : mergeUsage(this.reportedUsage, reported)
  }
}

const MESSAGE_STOP = Buffer.from('{"type":"message_stop"}')
const NOTHING_YET: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }

function withoutNulls(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

/** Anthropic counts what a cache held beside the rest of the input. */
function formatMessageUsage(usage: TokenUsage, costNanoUsd: NanoUsd, reported: unknown): object {
  const written = usage.cacheWriteTokens ?? 0
  return {
    ...(isRecord(reported) ? reported : {}),
    input_tokens: Math.max(0, usage.promptTokens - usage.cachedTokens - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cachedTokens,
    ...(usage.cacheWriteHourTokens === undefined
      ? {}
      : { cache_creation: livesOf(written, usage.cacheWriteHourTokens) }),
    output_tokens: usage.completionTokens,
    cost_usd: usdFromNanoUsd(costNanoUsd),
  }
}

function livesOf(writtenTokens: number, hourTokens: number): object {
  return { ephemeral_5m_input_tokens: writtenTokens - hourTokens, ephemeral_1h_input_tokens: hourTokens }
}

/** What a block, or a delta of one, gives to the client. */
function noteBlock(block: Record<string, unknown>, delivered: DeliveredText): void {
  for (const name of ['text', 'thinking', 'partial_json', 'name']) {
    const text = block[name]
    if (typeof text === 'string') delivered.add(text)
  }
  const { input } = block
  if (isRecord(input) && Object.keys(input).length > 0) delivered.add(JSON.stringify(input))
}
