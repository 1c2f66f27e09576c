import { isRecord } from '../../kernel/is-record.ts'
import { createToken } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { ID_PREFIXES, type AnswerContext } from './answer-context.ts'
import { invalidAnswer, readAnswerPayload } from './answer-payload.ts'
import { completeChoice } from './complete-choice.ts'
import { DeliveredText } from './delivered-text.ts'
import { formatUsage, mergeUsage, readUsage, type TokenUsage } from '../inference/inference.ts'
import { noteDelivered } from './note-delivered.ts'

const OBJECTS = { chat: 'chat.completion.chunk', completion: 'text_completion' } as const
const STREAM_BYTES_MAX = 256 * 1024 * 1024

/** Brings the chunks of one stream into our wire and keeps what is needed to meter them. */
export class ChunkNormaliser {
  readonly #context: AnswerContext
  readonly #kind: 'chat' | 'completion'
  readonly #isUsageAsked: boolean
  readonly #introduced = new Set<unknown>()
  #id: string | null = null
  #created: unknown = null
  #fingerprint: unknown = null
  #bytes = 0
  reportedUsage: TokenUsage | null = null
  #usageMembers: unknown = null
  readonly delivered = new DeliveredText()
  hasFinished = false

  constructor(context: AnswerContext, options: { kind: 'chat' | 'completion'; isUsageAsked: boolean }) {
    this.#context = context
    this.#kind = options.kind
    this.#isUsageAsked = options.isUsageAsked
  }

  /** The chunk as it leaves, or null when it carries nothing for the client. Unchanged bytes stay as they came. */
  read(payload: Buffer): Buffer | null {
    const { provider, requestedModel } = this.#context
    const kind = this.#kind
    this.#bytes += payload.length
    if (this.#bytes > STREAM_BYTES_MAX)
      throw invalidAnswer(provider, `it streamed more than ${STREAM_BYTES_MAX} bytes`)
    const { members, choices } = readAnswerPayload(provider, payload.toString())
    let isChanged = this.#takeUsage(members)
    if (choices.length === 0) return null

    if (this.#id === null) this.#adoptIdentity(members)
    isChanged = replace(members, 'id', this.#id) || isChanged
    isChanged = replace(members, 'model', requestedModel) || isChanged
    isChanged = replace(members, 'object', OBJECTS[kind]) || isChanged
    isChanged = replace(members, 'created', this.#created) || isChanged
    for (const [index, choice] of choices.entries()) {
      isChanged = completeChoice(choice, index, kind === 'chat' ? 'delta' : 'text') || isChanged
      if (kind === 'chat') isChanged = this.#introduceRole(choice) || isChanged
      noteDelivered(choice, this.delivered)
      if (typeof choice['finish_reason'] === 'string') this.hasFinished = true
    }
    const hasFingerprint = members['system_fingerprint'] !== undefined
    if (!isChanged) return hasFingerprint ? payload : appendFingerprint(payload)
    if (!hasFingerprint) members['system_fingerprint'] = null
    return Buffer.from(JSON.stringify(members))
  }

  /** A chunk with the usage, when the client asked for that. */
  end(usage: TokenUsage, costNanoUsd: NanoUsd): Buffer[] {
    if (!this.#isUsageAsked) return []
    const chunk = {
      id: this.#id,
      object: OBJECTS[this.#kind],
      created: this.#created,
      model: this.#context.requestedModel,
      system_fingerprint: this.#fingerprint,
      choices: [],
      usage: formatUsage(usage, costNanoUsd, this.#usageMembers),
    }
    return [Buffer.from(JSON.stringify(chunk))]
  }

  /** Keeps the usage for the end of the stream, where it belongs. Tells whether the chunk was changed. */
  #takeUsage(members: Record<string, unknown>): boolean {
    const usage = members['usage']
    if (isRecord(usage)) {
      this.#noteUsage(usage)
      if (this.#isUsageAsked) members['usage'] = null
      else delete members['usage']
      return true
    }
    if (!this.#isUsageAsked || usage === null) return false
    members['usage'] = null
    return true
  }

  /** What else an upstream tells comes from the report that says the most, the later of two that say as much. */
  #noteUsage(members: Record<string, unknown>): void {
    const reported = readUsage(members)
    if (reported === null) return
    const merged = this.reportedUsage === null ? reported : mergeUsage(this.reportedUsage, reported)
    if (merged.completionTokens === reported.completionTokens) this.#usageMembers = members
    this.reportedUsage = merged
  }

  #adoptIdentity(members: Record<string, unknown>): void {
    const prefix = ID_PREFIXES[this.#kind]
    const { id, created, system_fingerprint: fingerprint } = members
    this.#id = typeof id === 'string' && id.startsWith(prefix) ? id : createToken(prefix)
    this.#created = typeof created === 'number' ? created : Math.floor(this.#context.startedMs / 1000)
    this.#fingerprint = fingerprint ?? null
  }

  // The first delta of each choice says who speaks and that nothing is refused yet, as OpenAI's does.
  #introduceRole(choice: Record<string, unknown>): boolean {
    if (this.#introduced.has(choice['index'])) return false
    this.#introduced.add(choice['index'])
    const delta = choice['delta']
    if (!isRecord(delta)) return false
    const { role, refusal, ...rest } = delta
    if (typeof role === 'string' && refusal !== undefined) return false
    const speaker = typeof role === 'string' ? role : 'assistant'
    choice['delta'] = { role: speaker, ...rest, refusal: refusal ?? null }
    return true
  }
}

/** Tells whether the member had another value. */
function replace(members: Record<string, unknown>, name: string, value: unknown): boolean {
  if (members[name] === value) return false
  members[name] = value
  return true
}

const FINGERPRINT = Buffer.from(',"system_fingerprint":null}')

/** In the bytes, because many upstreams leave it out of every chunk and nothing else has to change. */
function appendFingerprint(payload: Buffer): Buffer {
  const last = payload.length - 1
  const end = payload[last] === CLOSING_BRACE ? last : payload.lastIndexOf(CLOSING_BRACE)
  const completed = Buffer.allocUnsafe(end + FINGERPRINT.length)
  completed.set(end === last ? payload : payload.subarray(0, end))
  completed.set(FINGERPRINT, end)
  return completed
}

const CLOSING_BRACE = 0x7d
