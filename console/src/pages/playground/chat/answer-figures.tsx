import { formatCount } from '../../../ui/format/format-count.ts'
import { formatDuration } from '../../../ui/format/format-duration.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import type { AssistantMessage } from './chat-state.ts'

/** What an answer took: time, tokens, money. */
export function AnswerFigures({ message }: { readonly message: AssistantMessage }) {
  const { usage, firstTokenMs, totalMs, finishReason, provider, model } = message
  const writingMs = totalMs !== undefined && firstTokenMs !== undefined ? totalMs - firstTokenMs : 0
  const figures = [
    model,
    provider && `by ${provider}`,
    firstTokenMs !== undefined && `first token ${formatDuration(firstTokenMs)}`,
    totalMs !== undefined && `total ${formatDuration(totalMs)}`,
    usage && `${formatCount(usage.prompt_tokens)} + ${formatCount(usage.completion_tokens)} tokens`,
    usage &&
      writingMs > 100 &&
      `${formatCount(Math.round((usage.completion_tokens / writingMs) * 1000))} tokens/s`,
    usage?.cost_usd !== undefined && formatUsd(usage.cost_usd),
    finishReason && finishReason !== 'stop' && finishReason.replaceAll('_', ' '),
  ]
  return <p className="tabular min-w-0 text-xs text-ink-faint">{figures.filter(Boolean).join(' · ')}</p>
}
