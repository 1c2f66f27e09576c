import { lookupTable } from '../../kernel/lookup-table.ts'

const STOP_REASONS = lookupTable<string>({
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
})

/** How a choice of the chat format ended. */
export interface ChoiceEnd {
  readonly finishReason: string
  /** The stop sequence, if the upstream reports it. */
  readonly stopSequence: string | null
  readonly isRefusal: boolean
  readonly hasToolCalls: boolean
}

export function toStopReason(end: ChoiceEnd): string {
  if (end.isRefusal) return 'refusal'
  if (end.stopSequence !== null) return 'stop_sequence'
  // Some upstreams report `stop` after tool calls. The client would then not run them.
  if (end.finishReason === 'stop' && end.hasToolCalls) return 'tool_use'
  return STOP_REASONS[end.finishReason] ?? 'end_turn'
}
