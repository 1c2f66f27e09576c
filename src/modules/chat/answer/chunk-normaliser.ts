import { isRecord } from '../../../kernel/is-record.ts'
import { createToken } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { ID_PREFIXES, type AnswerContext } from './answer-context.ts'
import { readAnswerPayload } from './answer-payload.ts'
import { parseOrNull } from './parse-answer.ts'
import type { ChunkRun } from './chunk-run.ts'
import { ChunkTemplate, type ParsedChunk } from './chunk-template.ts'
import { completeChoice } from './complete-choice.ts'
import { DeliveredText } from './delivered-text.ts'
import { formatUsage, mergeUsage, readUsage, type TokenUsage } from '../../../wires/token-usage.ts'
import { noteDelivered } from './note-delivered.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

const OBJECTS = { chat: 'chat.completion.chunk', completion: 'text_completion' } as const
const STREAM_BYTES_MAX = 256 * 1024 * 1024
/** Templates tried per stream. If its chunks differ in more than their text, the rest of the stream is parsed. */
const TEMPLATES_MAX = 16

type StreamContext = Pick<AnswerContext, 'provider' | 'requestedModel' | 'startedMs'>

/** Converts the chunks of one stream to our wire and collects what is needed to meter them. */
export class ChunkNormaliser {
  readonly #context: StreamContext
  readonly #kind: 'chat' | 'completion'
  readonly #isUsageAsked: boolean
  readonly #introduced = new Set<unknown>()
  #id: string | null = null
  #created: unknown = null
  #fingerprint: unknown = null
  #bytes = 0
  #template: ChunkTemplate | null = null
  /** The last parsed chunk that only added text, until it is learned from. */
  #parsed: ParsedChunk | null = null
  #templates = 0
  reportedUsage: TokenUsage | null = null
  #usageMembers: unknown = null
  readonly delivered = new DeliveredText()
  finishReason: string | null = null

  constructor(context: StreamContext, options: { kind: 'chat' | 'completion'; isUsageAsked: boolean }) {
    this.#context = context
    this.#kind = options.kind
    this.#isUsageAsked = options.isUsageAsked
  }

  /** Returns the chunk to send, or null if it has nothing for the client. Returns the same bytes if nothing changes. */
  read(payload: Buffer): Buffer | null {
    this.#countBytes(payload)
    const template = this.#readyTemplate()
    const known = template === null ? null : template.read(payload)
    if (template === null || known === null) return this.#parse(payload)
    this.delivered.add(template.text)
    return known
  }

  /** Reads chunks that came together in one pass, and frames them in one piece. Adds what was read before an error. */
  readAll(batch: readonly Buffer[], run: ChunkRun): void {
    const bytes = run.bytesOf(batch)
    for (const payload of batch) {
      this.#countBytes(payload)
      const template = bytes === null ? null : this.#readyTemplate()
      const from = template === null ? 0 : run.offsetOf(payload)
      const known =
        template === null || bytes === null ? null : template.readWithin(bytes, from, from + payload.length)
      if (template !== null && known !== null) {
        this.delivered.add(template.text)
        run.addText(known)
      } else {
        const chunk = this.#parse(payload)
        if (chunk !== null) run.add(chunk)
      }
    }
  }

  #countBytes(payload: Buffer): void {
    this.#bytes += payload.length
    if (this.#bytes > STREAM_BYTES_MAX)
      throw invalidAnswer(this.#context.provider, `it streamed more than ${STREAM_BYTES_MAX} bytes`)
  }

  get hasFinished(): boolean {
    return this.finishReason !== null
  }

  /** Learns from the last parsed chunk only if another follows: most of the cost of a short stream would be learning. */
  #readyTemplate(): ChunkTemplate | null {
    const parsed = this.#parsed
    if (parsed === null) return this.#template
    this.#parsed = null
    this.#templates += 1
    this.#template = ChunkTemplate.learn(parsed)
    return this.#template
  }

  #parse(payload: Buffer): Buffer | null {
    const { provider, requestedModel } = this.#context
    const kind = this.#kind
    const { members, choices } = readAnswerPayload(provider, parseOrNull(payload.toString()))
    const hasUsage = isRecord(members['usage'])
    let isIntroduction = false
    let isChanged = this.#takeUsage(members)
    if (choices.length === 0) return null

    if (this.#id === null) this.#adoptIdentity(members)
    isChanged = replace(members, 'id', this.#id) || isChanged
    isChanged = replace(members, 'model', requestedModel) || isChanged
    isChanged = replace(members, 'object', OBJECTS[kind]) || isChanged
    isChanged = replace(members, 'created', this.#created) || isChanged
    for (const [index, choice] of choices.entries()) {
      isChanged = completeChoice(choice, index, kind === 'chat' ? 'delta' : 'text') || isChanged
      if (kind === 'chat' && this.#introduceRole(choice)) {
        isChanged = true
        isIntroduction = true
      }
      noteDelivered(choice, this.delivered)
      if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason']
    }
    const written = this.#write(payload, members, isChanged)
    if (!hasUsage && !isIntroduction) this.#noteParsed(payload, written, choices)
    return written
  }

  #write(payload: Buffer, members: Record<string, unknown>, isChanged: boolean): Buffer {
    const hasFingerprint = members['system_fingerprint'] !== undefined
    if (!isChanged) return hasFingerprint ? payload : appendFingerprint(payload)
    if (!hasFingerprint) members['system_fingerprint'] = null
    return Buffer.from(JSON.stringify(members))
  }

  /** Keeps a chunk that only adds text, to make a template from it. */
  #noteParsed(payload: Buffer, written: Buffer, choices: readonly Record<string, unknown>[]): void {
    const [choice] = choices
    if (choice === undefined || choices.length > 1 || this.#templates === TEMPLATES_MAX) return
    const added = this.#kind === 'chat' ? choice['delta'] : choice
    const member = findAddedText(added)
    if (member === null || choice['finish_reason'] !== null || choice['logprobs'] !== null) return
    this.#parsed = { payload, written, ...member }
  }

  /** Returns a chunk with the usage if the client asked for it. */
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

  /** Keeps the usage for the end of the stream. Returns whether the chunk was changed. */
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

  /** Takes the other members from the report with the most completion tokens; of two equal ones, from the later. */
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

  // The first delta of each choice has a role and a null refusal, as OpenAI's does.
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

/** Returns the only text member, or null if there are several or the delta has other content for the client. */
function findAddedText(members: unknown): { member: string; text: string } | null {
  if (!isRecord(members)) return null
  let found: { member: string; text: string } | null = null
  for (const [member, value] of Object.entries(members)) {
    if (value === null || SILENT_MEMBERS.has(member)) continue
    if (found !== null || typeof value !== 'string' || !TEXT_MEMBERS.has(member)) return null
    found = { member, text: value }
  }
  return found
}

/** Members whose text is metered. */
const TEXT_MEMBERS: ReadonlySet<string> = new Set(['content', 'reasoning_content', 'text'])
const SILENT_MEMBERS: ReadonlySet<string> = new Set(['role', 'index'])

/** Returns whether the value changed. */
function replace(members: Record<string, unknown>, name: string, value: unknown): boolean {
  if (members[name] === value) return false
  members[name] = value
  return true
}

const FINGERPRINT = Buffer.from(',"system_fingerprint":null}')

/** Edits the bytes: many upstreams omit the fingerprint in every chunk, and often nothing else has to change. */
function appendFingerprint(payload: Buffer): Buffer {
  const last = payload.length - 1
  const end = payload[last] === CLOSING_BRACE ? last : payload.lastIndexOf(CLOSING_BRACE)
  const completed = Buffer.allocUnsafe(end + FINGERPRINT.length)
  completed.set(end === last ? payload : payload.subarray(0, end))
  completed.set(FINGERPRINT, end)
  return completed
}

const CLOSING_BRACE = 0x7d
