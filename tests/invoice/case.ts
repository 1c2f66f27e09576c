import type { FileShape } from './files/write-file.ts'

/** The routes on which requests are sent. `background` is a stored response, `run` and `turn` are comparisons. */
export type WireName =
  | 'chat'
  | 'completions'
  | 'messages'
  | 'responses'
  | 'background'
  | 'run'
  | 'turn'
  | 'embeddings'
  | 'edit'

/** A file in a request. `as` is what the request calls it, which need not be what it is. */
export interface PartChoice {
  readonly file: FileShape
  readonly as: 'picture' | 'file' | 'audio' | 'video'
  readonly by: 'data' | 'address'
  /** The media type in the request. Null for the true one. */
  readonly declared: string | null
  readonly place: 'user' | 'tool result'
  readonly detail: 'auto' | 'low' | 'high' | null
}

/** A tool in a request, and where it is declared. */
export interface ToolChoice {
  readonly type: string
  readonly place:
    | 'tools'
    | 'namespace'
    | 'nested namespace'
    | 'tool_search_output'
    | 'additional_tools'
    | 'message'
}

/** A member as the client writes it into the text of its request, which may repeat another member. */
export interface OptionChoice {
  readonly name: string
  readonly value: unknown
  readonly at: 'first' | 'last' | 'first of a message' | 'first of a tool'
}

/** What the simulated model does. The client cannot choose it, and it is no part of the invoice's rules. */
export interface WorkPlan {
  readonly outputTokens: number
  /** How long a reasoning model thinks before it writes. */
  readonly thinkMs: number
  /** After how many pieces of text it waits for the end of the case. -1 waits before it thinks, null never waits. */
  readonly pauseAfter: number | null
  /** How much of a long prompt is in the vendor's cache. */
  readonly cachedShare: number
  /** How often it uses each hosted tool that it finds. */
  readonly hostedCalls: number
  /** How the vendor's parser reads names: parsers disagree about repeated ones and about case. */
  readonly reader: 'last' | 'first' | 'any case'
  readonly failure: 'refused' | 'cut' | null
}

export type EndName =
  | 'whole'
  | 'left'
  | 'cancelled'
  | 'revoked'
  | 'suspended'
  | 'expired'
  | 'many left'
  | 'crashed'

export interface EndChoice {
  readonly name: EndName
  /** Whether the request is sent again, and with the same `Idempotency-Key` or without one. */
  readonly retry: 'with key' | 'without key' | null
}

/** One account, its request and how that ends. */
export interface Case {
  readonly number: number
  readonly wire: WireName
  readonly model: string
  readonly isStream: boolean
  /** Words of the prompt. */
  readonly words: number
  readonly parts: readonly PartChoice[]
  readonly tools: readonly ToolChoice[]
  readonly options: readonly OptionChoice[]
  readonly outputLimit: number | null
  readonly isThinkingAsked: boolean
  readonly balanceUsd: number
  readonly work: WorkPlan
  readonly end: EndChoice
}
