import type { RunOrder } from '../../../api/compare.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import type { ChatMessage } from './chat-state.ts'

/** What the gateway is asked to estimate before a message is sent. Null for pictures, whose tokens are not known here. */
export function estimateOrder(
  models: readonly string[],
  messages: readonly ChatMessage[],
  { system, max_tokens, effort }: PlaygroundSearch,
  text: string,
): RunOrder | null {
  const hasPictures = messages.some((message) => message.role === 'user' && message.images.length > 0)
  if (text.trim() === '' || hasPictures) return null
  const lanes = models.map((model) => ({
    model,
    ...(max_tokens !== undefined && { max_tokens }),
    ...(effort && { reasoning_effort: effort }),
  }))
  const said = messages.flatMap(({ role, text: content }) => (content === '' ? [] : [{ role, content }]))
  return {
    prompts: [
      {
        messages: [
          ...(system ? [{ role: 'system' as const, content: system }] : []),
          ...said,
          { role: 'user' as const, content: text },
        ],
      },
    ],
    lanes,
  }
}
