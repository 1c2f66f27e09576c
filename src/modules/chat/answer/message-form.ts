import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { createToken } from '../../../kernel/identifiers.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { mergeUsage, type TokenUsage } from '../../../wires/token-usage.ts'
import { settleUsage, type AnswerContext } from './answer-context.ts'
import type { AnswerForm, StreamReader } from './answer-form.ts'
import { DeliveredText } from './delivered-text.ts'
import { formatMessageUsage, readMessageUsage } from './message-usage.ts'
import { checkEventPayload, readEventPayload } from './read-event-payload.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

const STREAM_BYTES_MAX = 256 * 1024 * 1024
const ID_PREFIX = 'msg_'

/** Answers of Anthropic's Messages wire. */
export const MESSAGE_FORM: AnswerForm = {
  finish({ text, value }, context) {
    const { provider, requestedModel, record } = context
    const message = checkEventPayload(provider, value)
    const { content, usage: reported } = message
    if (message['type'] !== 'message' || !Array.isArray(content))
      throw invalidAnswer(provider, 'it sent an object that is not a message')
    const delivered = new DeliveredText()
    for (const block of content) if (isRecord(block)) noteBlock(block, delivered)
    record.finishReason = typeof message['stop_reason'] === 'string' ? message['stop_reason'] : null
    const usage = settleUsage(context, readMessageUsage(reported), delivered)
    const told = formatMessageUsage(usage, record.costNanoUsd ?? 0n, reported)
    const edits = new Map([['usage', JSON.stringify(told)]])
    const id = toMessageId(message['id'])
    if (message['id'] !== id) edits.set('id', JSON.stringify(id))
    if (message['model'] !== requestedModel) edits.set('model', JSON.stringify(requestedModel))
    return (
      editJsonObject(text, edits) ?? JSON.stringify({ ...message, id, model: requestedModel, usage: told })
    )
  },
  openStream: (context) => new MessageReader(context),
}

/** Forwards the events of a message, and keeps the last two until the charge is durable. */
class MessageReader implements StreamReader {
  readonly #context: AnswerContext
  #bytes = 0
  #isStarted = false
  #ending: Record<string, unknown> | null = null
  #usageMembers: Record<string, unknown> = {}
  reportedUsage: TokenUsage | null = null
  readonly delivered = new DeliveredText()
  finishReason: string | null = null

  constructor(context: AnswerContext) {
    this.#context = context
  }

  read(payload: Buffer): Buffer | null {
    const { provider } = this.#context
    this.#bytes += payload.length
    if (this.#bytes > STREAM_BYTES_MAX)
      throw invalidAnswer(provider, `it streamed more than ${STREAM_BYTES_MAX} bytes`)
    const event = readEventPayload(provider, payload.toString())
    const { type } = event
    if (type === 'message_start') return this.#start(event)
    if (!this.#isStarted) {
      // A ping has no content, so another upstream can still take over.
      if (type === 'ping') return null
      throw invalidAnswer(provider, 'its stream does not begin with message_start')
    }
    switch (type) {
      case 'content_block_start':
        if (isRecord(event['content_block'])) noteBlock(event['content_block'], this.delivered)
        return payload
      case 'content_block_delta':
        if (isRecord(event['delta'])) noteBlock(event['delta'], this.delivered)
        return payload
      case 'message_delta':
        return this.#keepEnding(event)
      case 'message_stop':
        return null
      case undefined:
        throw invalidAnswer(provider, 'it sent an event without a type')
      default:
        return payload
    }
  }

  get hasFinished(): boolean {
    return this.finishReason !== null
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
    const { provider, requestedModel: model } = this.#context
    const { message } = event
    if (this.#isStarted || !isRecord(message))
      throw invalidAnswer(provider, 'it began a message twice or without one')
    this.#isStarted = true
    this.#noteUsage(message['usage'])
    const usage = message['usage'] ?? formatMessageUsage(NOTHING_YET, 0n, {})
    const id = toMessageId(message['id'])
    return Buffer.from(JSON.stringify({ ...event, message: { ...message, id, model, usage } }))
  }

  /** Keeps the last event, which is sent with the cost. If another event follows, returns the kept one. */
  #keepEnding(event: Record<string, unknown>): Buffer | null {
    const earlier = this.#ending
    this.#ending = event
    this.#noteUsage(event['usage'])
    const { delta } = event
    if (isRecord(delta) && typeof delta['stop_reason'] === 'string') this.finishReason = delta['stop_reason']
    return earlier === null ? null : Buffer.from(JSON.stringify(earlier))
  }

  /** Output counts grow from event to event. Input counts are in the first event, and sometimes in the last as well. */
  #noteUsage(members: unknown): void {
    if (!isRecord(members)) return
    this.#usageMembers = { ...this.#usageMembers, ...withoutNulls(members) }
    const reported = readMessageUsage(this.#usageMembers)
    if (reported === null) return
    this.reportedUsage = this.reportedUsage === null ? reported : mergeUsage(this.reportedUsage, reported)
  }
}

const MESSAGE_STOP = Buffer.from('{"type":"message_stop"}')
const NOTHING_YET: TokenUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 }

function withoutNulls(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

/** Keeps an upstream's id if it has the prefix of this wire. */
function toMessageId(id: unknown): string {
  return typeof id === 'string' && id.startsWith(ID_PREFIX) ? id : createToken(ID_PREFIX)
}

/** Records what a block, or a delta of one, delivers to the client. */
function noteBlock(block: Record<string, unknown>, delivered: DeliveredText): void {
  for (const name of ['text', 'thinking', 'partial_json', 'name']) {
    const text = block[name]
    if (typeof text === 'string') delivered.add(text)
  }
  const { input } = block
  if (isRecord(input) && Object.keys(input).length > 0) delivered.add(JSON.stringify(input))
}
