import type { NativeWire } from '../native-wire.ts'
import type { OnDisconnect } from '../provider.ts'
import type { VoiceList } from './voices.ts'

/** Operations of the wire besides chat and legacy completion. */
export type WireOperation = 'embedding' | 'rerank' | 'moderation' | 'image' | 'speech' | 'transcription'

interface ReasoningRequest {
  readonly reasoning_effort?: string | null
}

/** An upstream that speaks the OpenAI wire: its address, its credential, and its deviations from the wire. */
export interface OpenAiCompatibleUpstream {
  readonly id: string
  /**
   * Null for self-hosted servers, which the operator configures by their address. Parts in braces are the customer's, so that the
   * operator configures the address too.
   */
  readonly defaultBaseUrl: string | null
  /** Set for self-hosted servers: the default number of concurrent requests. */
  readonly localSlots?: number
  /** What the upstream does with a request whose connection is closed. By default, it completes the request. */
  readonly onDisconnect?: OnDisconnect
  readonly lacksChat?: boolean
  /** Other wires that the upstream speaks, at their usual paths. For self-hosted servers, the operator configures them. */
  readonly wires?: readonly NativeWire[]
  /** Can count the tokens of a message without answering it. */
  readonly countsMessageTokens?: boolean
  /** Reads the billing line that Claude Code writes before its instructions. It is removed for all others. */
  readonly readsBillingLine?: boolean
  /** The header that carries the key. By default `authorization` with `Bearer`. */
  readonly credentialHeader?: 'x-api-key'
  readonly hasLegacyCompletion?: boolean
  readonly operations?: readonly WireOperation[]
  /** The voices of its speech models. If absent, the voices are unknown and any name is forwarded. */
  readonly voices?: VoiceList
  /** The upstream's name for the output limit, if it refuses `max_tokens`. */
  readonly outputLimitMember?: 'max_completion_tokens'
  readonly seedMember?: 'random_seed'
  readonly lacksImageSeed?: boolean
  /** Members that the upstream refuses as unknown. */
  readonly refusedMembers?: readonly string[]
  /** Members that change the bill but are priced. Other such members are refused. */
  readonly takenMembers?: readonly string[]
  /** Members that the operator allows for a self-hosted server, besides those that every server gets. */
  readonly allowedMembers?: readonly string[]
  /** Supports only the older `system` role. */
  readonly lacksDeveloperRole?: boolean
  /** Returns the members that express `think: true` for this upstream. Absent if reasoning needs no switch. */
  readonly thinkMembers?: (body: ReasoningRequest) => Readonly<Record<string, unknown>>
}

export const thinkingEnabled = () => ({ thinking: { type: 'enabled' } })
export const reasoningEffort = (body: ReasoningRequest) => ({
  reasoning_effort: body.reasoning_effort ?? 'medium',
})
export const templateSwitch = () => ({ chat_template_kwargs: { enable_thinking: true } })

/** Self-hosted servers may have models for any operation. */
export const EVERY_OPERATION: readonly WireOperation[] = [
  'embedding',
  'rerank',
  'moderation',
  'image',
  'speech',
  'transcription',
]
