import type { NativeWire } from '../native-wire.ts'
import type { WhenLeft } from '../provider.ts'
import { GROQ_VOICES, OPENAI_VOICES, type VoiceList } from './voices.ts'

/** What the wire has besides chat and legacy completion. */
export type WireOperation = 'embedding' | 'rerank' | 'moderation' | 'image' | 'speech' | 'transcription'

interface ReasoningRequest {
  readonly reasoning_effort?: string | null
}

/** An upstream that speaks the OpenAI wire: an address, a credential, and where it departs from the wire. */
export interface OpenAiCompatibleUpstream {
  readonly id: string
  /** `OPENAI` reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`. */
  readonly environmentPrefix: string
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

const thinkingEnabled = () => ({ thinking: { type: 'enabled' } })
const reasoningEffort = (body: ReasoningRequest) => ({ reasoning_effort: body.reasoning_effort ?? 'medium' })
const templateSwitch = () => ({ chat_template_kwargs: { enable_thinking: true } })

/** A server of the operator's own is asked for whatever its models can do. */
export const EVERY_OPERATION: readonly WireOperation[] = [
  'embedding',
  'rerank',
  'moderation',
  'image',
  'speech',
  'transcription',
]

/** Adding an upstream is adding a line. */
export const OPENAI_COMPATIBLE_UPSTREAMS: readonly OpenAiCompatibleUpstream[] = [
  {
    id: 'openai',
    environmentPrefix: 'OPENAI',
    defaultBaseUrl: 'https://api.openai.com/v1',
    whenLeft: 'streams stop',
    operations: ['embedding', 'moderation', 'image', 'speech', 'transcription'],
    voices: OPENAI_VOICES,
    lacksImageSeed: true,
    hasLegacyCompletion: false,
    outputLimitMember: 'max_completion_tokens',
    wires: ['openai-responses'],
    // What is rejected of a prediction is reported among the completion's tokens; keeping a cache longer is free.
    takenMembers: ['prediction', 'prompt_cache_retention'],
    thinkMembers: reasoningEffort,
  },
  {
    id: 'groq',
    environmentPrefix: 'GROQ',
    defaultBaseUrl: 'https://api.groq.com/openai/v1',
    operations: ['speech', 'transcription'],
    voices: GROQ_VOICES,
    outputLimitMember: 'max_completion_tokens',
    thinkMembers: () => ({ include_reasoning: true }),
  },
  {
    id: 'deepseek',
    environmentPrefix: 'DEEPSEEK',
    defaultBaseUrl: 'https://api.deepseek.com/v1',
    whenLeft: 'streams stop',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
  {
    id: 'mistral',
    environmentPrefix: 'MISTRAL',
    defaultBaseUrl: 'https://api.mistral.ai/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
    seedMember: 'random_seed',
    refusedMembers: ['stream_options', 'user', 'logit_bias', 'logprobs', 'top_logprobs'],
    takenMembers: ['prediction'],
    thinkMembers: (body) => ({ reasoning_effort: body.reasoning_effort ?? 'high' }),
  },
  {
    id: 'xai',
    environmentPrefix: 'XAI',
    defaultBaseUrl: 'https://api.x.ai/v1',
    whenLeft: 'streams stop',
    hasLegacyCompletion: true,
    thinkMembers: (body) => (body.reasoning_effort ? { reasoning_effort: body.reasoning_effort } : {}),
  },
  {
    id: 'dashscope',
    environmentPrefix: 'DASHSCOPE',
    defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    operations: ['embedding'],
    lacksDeveloperRole: true,
    thinkMembers: () => ({ enable_thinking: true }),
  },
  {
    id: 'moonshot',
    environmentPrefix: 'MOONSHOT',
    defaultBaseUrl: 'https://api.moonshot.ai/v1',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
  {
    id: 'zai',
    environmentPrefix: 'ZAI',
    defaultBaseUrl: 'https://api.z.ai/api/paas/v4',
    lacksDeveloperRole: true,
    thinkMembers: thinkingEnabled,
  },
  {
    id: 'minimax',
    environmentPrefix: 'MINIMAX',
    defaultBaseUrl: 'https://api.minimax.io/v1',
    lacksDeveloperRole: true,
    thinkMembers: () => ({ reasoning_split: true }),
  },
  {
    id: 'together',
    environmentPrefix: 'TOGETHER',
    defaultBaseUrl: 'https://api.together.xyz/v1',
    whenLeft: 'streams stop',
    operations: ['embedding', 'rerank', 'speech', 'transcription'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
    thinkMembers: templateSwitch,
  },
  {
    id: 'fireworks',
    environmentPrefix: 'FIREWORKS',
    defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
    whenLeft: 'streams stop',
    operations: ['embedding', 'rerank'],
    hasLegacyCompletion: true,
    lacksDeveloperRole: true,
    thinkMembers: reasoningEffort,
  },
  {
    id: 'openrouter',
    environmentPrefix: 'OPENROUTER',
    defaultBaseUrl: 'https://openrouter.ai/api/v1',
    whenLeft: 'streams stop',
    operations: ['embedding'],
    hasLegacyCompletion: true,
    wires: ['anthropic-messages', 'openai-responses'],
    // Shortens a prompt that is too long, which costs less.
    takenMembers: ['transforms'],
    thinkMembers: () => ({ reasoning: { enabled: true } }),
  },
  {
    id: 'cerebras',
    environmentPrefix: 'CEREBRAS',
    defaultBaseUrl: 'https://api.cerebras.ai/v1',
    outputLimitMember: 'max_completion_tokens',
    lacksDeveloperRole: true,
    thinkMembers: reasoningEffort,
  },
  {
    id: 'vllm',
    environmentPrefix: 'VLLM',
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 64,
    whenLeft: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: templateSwitch,
  },
  {
    id: 'llamacpp',
    environmentPrefix: 'LLAMACPP',
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    whenLeft: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: templateSwitch,
  },
  {
    id: 'ollama',
    environmentPrefix: 'OLLAMA',
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    whenLeft: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: reasoningEffort,
  },
  {
    id: 'lmstudio',
    environmentPrefix: 'LMSTUDIO',
    defaultBaseUrl: null,
    operations: EVERY_OPERATION,
    localSlots: 4,
    whenLeft: 'stops',
    hasLegacyCompletion: true,
    thinkMembers: reasoningEffort,
  },
  {
    id: 'tgi',
    environmentPrefix: 'TGI',
    defaultBaseUrl: null,
    localSlots: 64,
    whenLeft: 'stops',
    operations: EVERY_OPERATION,
    lacksDeveloperRole: true,
  },
  {
    id: 'jina',
    environmentPrefix: 'JINA',
    defaultBaseUrl: 'https://api.jina.ai/v1',
    lacksChat: true,
    operations: ['rerank'],
  },
  {
    // Its chat is translated (`ai-sdk/`).
    id: 'anthropic',
    environmentPrefix: 'ANTHROPIC',
    defaultBaseUrl: 'https://api.anthropic.com/v1',
    whenLeft: 'streams stop',
    lacksChat: true,
    wires: ['anthropic-messages'],
    countsMessageTokens: true,
    credentialHeader: 'x-api-key',
  },
]
