import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { responseIdOf } from '../../../wires/openai-responses/response-id.ts'
import { readUsage, type TokenUsage } from '../../../wires/token-usage.ts'
import { settleUsage, type AnswerContext } from './answer-context.ts'
import type { AnswerForm, StreamReader } from './answer-form.ts'
import { DeliveredText } from './delivered-text.ts'
import { checkEventPayload, parseEventPayload, readFailure } from './read-event-payload.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

const STREAM_BYTES_MAX = 256 * 1024 * 1024
const ENDS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete'])
const FINAL_STATUSES: ReadonlySet<unknown> = new Set(['completed', 'incomplete'])

/** Answers of OpenAI's Responses wire. */
export const RESPONSE_FORM: AnswerForm = {
  finish({ text, value }, context) {
    const { provider, record } = context
    const response = checkEventPayload(provider, value)
    const { output, usage: reported } = response
    if (response['object'] !== 'response' || !Array.isArray(output))
      throw invalidAnswer(provider, 'it sent an object that is not a response')
    if (isRecord(response['error'])) throw readFailure(provider, response)
    if (!FINAL_STATUSES.has(response['status']))
      throw invalidAnswer(provider, 'it sent a response that is not finished')
    record.finishReason = String(response['status'])
    const delivered = new DeliveredText()
    for (const item of output) if (isRecord(item)) noteItem(item, delivered)
    const usage = settleUsage(context, readResponseUsage(reported), delivered)
    const told = formatResponseUsage(usage, record.costNanoUsd ?? 0n, reported)
    const edits = new Map([['usage', JSON.stringify(told)]])
    const own = ownMembersOf(context)
    for (const [name, value] of Object.entries(own))
      if (response[name] !== value) edits.set(name, JSON.stringify(value))
    return editJsonObject(text, edits) ?? JSON.stringify({ ...response, ...own, usage: told })
  },
  openStream: (context) => new ResponseReader(context),
}

/** Forwards the events of a response, and keeps the last one until the charge is durable. */
class ResponseReader implements StreamReader {
  readonly #context: AnswerContext
  readonly #own: OwnMembers
  #bytes = 0
  #ending: Record<string, unknown> | null = null
  reportedUsage: TokenUsage | null = null
  readonly delivered = new DeliveredText()
  finishReason: string | null = null

  constructor(context: AnswerContext) {
    this.#context = context
    this.#own = ownMembersOf(context)
  }

  read(payload: Buffer): Buffer | null {
    const { provider } = this.#context
    this.#bytes += payload.length
    if (this.#bytes > STREAM_BYTES_MAX)
      throw invalidAnswer(provider, `it streamed more than ${STREAM_BYTES_MAX} bytes`)
    const event = parseEventPayload(provider, payload.toString())
    const { type, delta, item, response } = event
    if (type === 'error') throw readFailure(provider, event)
    if (type === 'response.failed') throw this.#fail(response)
    if (typeof type !== 'string') throw invalidAnswer(provider, 'it sent an event without a type')
    if (typeof delta === 'string') this.delivered.add(delta)
    if (type === 'response.output_item.added' && isRecord(item)) noteItem(item, this.delivered)
    if (ENDS.has(type)) {
      this.reportedUsage = readResponseUsage(isRecord(response) ? response['usage'] : null)
      this.#ending = event
      this.finishReason = type === 'response.completed' ? 'completed' : 'incomplete'
      return null
    }
    return isRecord(response) ? this.#tell(event, response) : payload
  }

  get hasFinished(): boolean {
    return this.finishReason !== null
  }

  end(usage: TokenUsage, costNanoUsd: NanoUsd): Buffer[] {
    if (this.#ending === null) throw invalidAnswer(this.#context.provider, 'its stream has no last event')
    const response = isRecord(this.#ending['response']) ? this.#ending['response'] : {}
    const told = formatResponseUsage(usage, costNanoUsd, response['usage'])
    return [this.#tell(this.#ending, { ...response, usage: told })]
  }

  /** Writes the type first, as OpenAI does, because stored events are recognised by it. Other servers write it last. */
  #tell(event: Record<string, unknown>, response: object): Buffer {
    const { type, ...members } = event
    return Buffer.from(JSON.stringify({ type, ...members, response: { ...response, ...this.#own } }))
  }

  /** If anything was delivered, the usage in the failed response is charged. A failure that delivered nothing is free. */
  #fail(response: unknown): UpstreamError {
    const failed = isRecord(response) ? response : {}
    if (!this.delivered.isEmpty) this.reportedUsage = readResponseUsage(failed['usage'])
    return readFailure(this.#context.provider, failed)
  }
}

type OwnMembers = Readonly<Record<string, unknown>>

/** Members that only the gateway knows, equal in all events. A response is stored under our id, whichever upstream answers. */
function ownMembersOf({ requestId, requestedModel, ownMembers }: AnswerContext): OwnMembers {
  return { ...ownMembers, id: responseIdOf(requestId), model: requestedModel }
}

/** Maps this wire's names to those of the chat form. */
function readResponseUsage(reported: unknown): TokenUsage | null {
  if (!isRecord(reported)) return null
  return readUsage({
    prompt_tokens: reported['input_tokens'],
    prompt_tokens_details: reported['input_tokens_details'],
    completion_tokens: reported['output_tokens'],
    completion_tokens_details: reported['output_tokens_details'],
  })
}

function formatResponseUsage(usage: TokenUsage, costNanoUsd: NanoUsd, reported: unknown): object {
  const {
    input_tokens_details: input,
    output_tokens_details: output,
    ...rest
  } = isRecord(reported) ? reported : {}
  return {
    ...rest,
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      ...(isRecord(input) ? input : {}),
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { ...(isRecord(output) ? output : {}), reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
    cost_usd: usdFromNanoUsd(costNanoUsd),
  }
}

/** Records what an item delivers to the client besides its deltas. */
function noteItem(item: Record<string, unknown>, delivered: DeliveredText): void {
  for (const name of ['name', 'arguments', 'input']) {
    const text = item[name]
    if (typeof text === 'string') delivered.add(text)
  }
  for (const parts of [item['content'], item['summary']]) {
    if (!Array.isArray(parts)) continue
    for (const part of parts) {
      const text = isRecord(part) ? (part['text'] ?? part['refusal']) : null
      if (typeof text === 'string') delivered.add(text)
    }
  }
}
