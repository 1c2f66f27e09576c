const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** How a choice of the chat form ended. */
export interface ChoiceEnd {
  readonly finishReason: string
  /** The text at which it stopped, where the upstream says so. */
  readonly stopSequence: string | null
  readonly isRefusal: boolean
  readonly hasToolCalls: boolean
}

export function toStopReason(end: ChoiceEnd): string {
  if (end.isRefusal) return 'refusal'
  if (end.stopSequence !== null) return 'stop_sequence'
  // Some upstreams say `stop` behind calls, which a client would then not make.
  if (end.finishReason === 'stop' && end.hasToolCalls) return 'tool_use'
  return STOP_REASONS[end.finishReason] ?? 'end_turn'
}
