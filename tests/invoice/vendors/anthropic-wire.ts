import type { AnswerWire, Asked, PromptCounts, Reported } from './perform-work.ts'

/** Anthropic reports the prompt when an answer starts, and the output at its end. */
export const ANTHROPIC_WIRE: AnswerWire = {
  start: (asked) => [
    event('message_start', {
      message: { ...messageOf(asked), content: [], stop_reason: null, usage: usageOf(asked.prompt, 1) },
    }),
    ...(asked.isThinking
      ? [
          event('content_block_start', {
            index: 0,
            content_block: { type: 'thinking', thinking: '', signature: '' },
          }),
          event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } }),
          event('content_block_stop', { index: 0 }),
        ]
      : []),
    event('content_block_start', {
      index: asked.isThinking ? 1 : 0,
      content_block: { type: 'text', text: '' },
    }),
  ],
  piece: (text, _, { isThinking }) =>
    event('content_block_delta', { index: isThinking ? 1 : 0, delta: { type: 'text_delta', text } }),
  end: (asked, usage) => [
    event('content_block_stop', { index: asked.isThinking ? 1 : 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: usage.completionTokens },
    }),
    event('message_stop', {}),
  ],
  whole: (asked, usage, text) =>
    JSON.stringify({
      ...messageOf(asked),
      content: [
        ...(asked.isThinking ? [{ type: 'thinking', thinking: '', signature: 'c2ln' }] : []),
        { type: 'text', text },
      ],
      stop_reason: 'end_turn',
      usage: usageOf(usage, usage.completionTokens),
    }),
}

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}

function messageOf({ model }: Asked): object {
  return { id: 'msg_simulated', type: 'message', role: 'assistant', model, stop_sequence: null }
}

function usageOf(counts: PromptCounts | Reported, outputTokens: number): object {
  const { promptTokens, cachedTokens, cacheWriteTokens: written = 0, cacheWriteHourTokens: hour = 0 } = counts
  return {
    input_tokens: promptTokens - cachedTokens - written,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
    output_tokens: outputTokens,
  }
}
