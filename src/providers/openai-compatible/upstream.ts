import type { NativeWire } from '../native-wire.ts'
import type { WhenLeft } from '../provider.ts'
import type { VoiceList } from './voices.ts'

/** What the wire has besides chat and legacy completion. */
export type WireOperation = 'embedding' | 'rerank' | 'moderation' | 'image' | 'speech' | 'transcription'

interface ReasoningRequest {
  readonly reasoning_effort?: string | null
}

/** An upstream that speaks the OpenAI wire: an address, a credential, and where it departs from the wire. */
export interface OpenAiCompatibleUpstream {
  readonly id: string
  /** Null for self-hosted servers: they are configured by giving their address. */
  readonly defaultBaseUrl: string | null
  /** Runs on hardware of the operator's own: how many requests it works on at once by default. */
  readonly localSlots?: number
  /** What becomes of a request that is closed; a vendor goes on with it unless told. */
  readonly whenLeft?: WhenLeft
  readonly lacksChat?: boolean
  /** Other wires that it speaks itself, under their usual paths. Of a server of the operator's own, the operator says. */
  readonly wires?: readonly NativeWire[]
  /** Counts the tokens of a message without answering it. */
  readonly countsMessageTokens?: boolean
  /** The header that the key is sent in; `authorization` with `Bearer` unless told. */
  readonly credentialHeader?: 'x-api-key'
  readonly hasLegacyCompletion?: boolean
  readonly operations?: readonly WireOperation[]
  /** Those its speech models know. Of other servers nothing is known, and any name is passed on. */
  readonly voices?: VoiceList
  /** The upstream's name for the output limit, where `max_tokens` is refused. */
  readonly outputLimitMember?: 'max_completion_tokens'
  readonly seedMember?: 'random_seed'
  readonly lacksImageSeed?: boolean
  /** Members the upstream refuses as unknown. */
  readonly refusedMembers?: readonly string[]
  /** Members that change the bill and are priced all the same; others of their kind are refused. */
  readonly takenMembers?: readonly string[]
  /** Knows only the older `system` role. */
  readonly lacksDeveloperRole?: boolean
  /** How `think: true` is said here. Nothing is added where reasoning needs no switch. */
  readonly thinkMembers?: (body: ReasoningRequest) => Readonly<Record<string, unknown>>
}

export const thinkingEnabled = () => ({ thinking: { type: 'enabled' } })
export const reasoningEffort = (body: ReasoningRequest) => ({
  reasoning_effort: body.reasoning_effort ?? 'medium',
})
export const templateSwitch = () => ({ chat_template_kwargs: { enable_thinking: true } })

/** A server of the operator's own is asked for whatever its models can do. */
export const EVERY_OPERATION: readonly WireOperation[] = [
  'embedding',
  'rerank',
  'moderation',
  'image',
  'speech',
  'transcription',
]
