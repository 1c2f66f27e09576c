import type { CompareCell } from '../../api/compare.ts'
import { classNames } from '../../ui/class-names.ts'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'

interface ArenaAnswerProps {
  readonly cell: CompareCell
  /** As far as it is written. */
  readonly text: string | undefined
  readonly position: number
  readonly isWinner: boolean
  readonly onVote: (() => void) | undefined
}

export function ArenaAnswer({ cell, text, position, isWinner, onVote }: ArenaAnswerProps) {
  const isWaiting = cell.status === 'pending' || cell.status === 'running'
  const shown = cell.output ?? (isWaiting ? (text ?? null) : null)
  return (
    <article
      aria-busy={isWaiting}
      aria-label={`Answer ${position}`}
      className={classNames(
        'flex min-w-0 flex-col rounded-lg border bg-surface',
        isWinner ? 'border-accent' : 'border-line',
      )}
    >
      <header className="flex min-h-12 items-center justify-between gap-2 border-b border-line px-4 py-2">
        <h2 className="truncate text-sm font-semibold">
          {cell.model === '' ? `Answer ${position}` : cell.model}
        </h2>
        {isWinner && <Badge tone="accent">your vote</Badge>}
        {onVote && <Button onClick={onVote}>Best ({position})</Button>}
      </header>
      <div className="grow px-4 py-3 text-sm">
        {isWaiting && text === undefined && (
          <div role="status" aria-label="Waiting for the answer" className="flex flex-col gap-2">
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-3/4" />
          </div>
        )}
        {cell.error && <p className="break-words text-bad">{cell.error.message}</p>}
        {shown !== null && <MarkdownView text={shown} />}
      </div>
      {cell.latency_ms !== null && (
        <footer className="tabular flex flex-wrap gap-x-3 border-t border-line px-4 py-2 text-xs text-ink-faint">
          <span>{formatDuration(cell.latency_ms)}</span>
          {cell.usage && <span>{cell.usage.completion_tokens} tokens</span>}
          <span>{formatUsd(cell.cost_usd)}</span>
        </footer>
      )}
    </article>
  )
}
