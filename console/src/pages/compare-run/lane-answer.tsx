import { useMemo } from 'react'
import type { CompareCell } from '../../api/compare.ts'
import { classNames } from '../../ui/class-names.ts'
import { formatShare } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'
import { markDifferences } from './mark-differences.ts'

interface LaneAnswerProps {
  readonly cell: CompareCell
  /** The lane, or the number of the answer while lanes are hidden. */
  readonly name: string
  /** From 1. The key with this digit votes for it. */
  readonly position: number
  /** The answer that this one is compared with, if differences are marked. */
  readonly comparedWith: string | null
  readonly isChosen: boolean
  readonly onVote: (() => void) | undefined
  readonly onOpen: () => void
}

/** One answer beside those of the other lanes. */
export function LaneAnswer(props: LaneAnswerProps) {
  const { cell, name, position, comparedWith, isChosen, onVote, onOpen } = props
  return (
    <article
      aria-label={name}
      className={classNames(
        'flex min-w-0 flex-col rounded-md border bg-surface',
        isChosen ? 'border-accent' : 'border-line',
      )}
    >
      <header className="flex min-h-10 items-center justify-between gap-2 border-b border-line px-3 py-1">
        <h4 className="truncate text-sm font-medium">{name}</h4>
        {cell.score !== null && (
          <span className={classNames('tabular text-xs', cell.score < 0.5 ? 'text-warn' : 'text-good')}>
            {formatShare(cell.score)}
          </span>
        )}
      </header>
      <div
        className="max-h-96 grow overflow-auto px-3 py-2 text-sm"
        tabIndex={0}
        role="region"
        aria-label={`Answer of ${name}`}
      >
        {cell.error && <p className="break-words text-bad">{cell.error.message}</p>}
        {cell.output === null ? (
          cell.error === null && <p className="text-ink-faint">{cell.status}</p>
        ) : comparedWith === null ? (
          <MarkdownView text={cell.output} />
        ) : (
          <MarkedText text={cell.output} other={comparedWith} />
        )}
      </div>
      {cell.scores && <AnswerScores scores={cell.scores} />}
      <footer className="tabular flex flex-wrap items-center justify-between gap-2 border-t border-line px-3 py-1 text-xs text-ink-faint">
        <span>
          {[
            cell.latency_ms === null ? null : formatDuration(cell.latency_ms),
            cell.usage === null ? null : `${cell.usage.completion_tokens} tokens`,
            cell.model === '' ? null : formatUsd(cell.cost_usd),
          ]
            .filter((part) => part !== null)
            .join(' · ')}
        </span>
        <span className="flex gap-1">
          <Button kind="quiet" onClick={onOpen} aria-label={`Details of ${name}`}>
            Details
          </Button>
          {onVote && (
            <Button
              onClick={onVote}
              aria-pressed={isChosen}
              aria-keyshortcuts={String(position)}
              title={`Key ${position}`}
            >
              Best
            </Button>
          )}
        </span>
      </footer>
    </article>
  )
}

function AnswerScores({ scores }: { readonly scores: NonNullable<CompareCell['scores']> }) {
  return (
    <dl
      aria-label="Scores"
      className="tabular flex flex-wrap gap-x-3 gap-y-1 border-t border-line px-3 py-1 text-xs"
    >
      {Object.entries(scores).map(([name, { score, reason }]) => (
        <div key={name} className="flex min-w-0 gap-1" title={reason ?? undefined}>
          <dt className="truncate text-ink-soft">{name}</dt>
          <dd className={score === null ? 'text-ink-faint' : score < 0.5 ? 'text-warn' : 'text-good'}>
            {score === null ? 'none' : formatShare(score)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function MarkedText({ text, other }: { readonly text: string; readonly other: string }) {
  const parts = useMemo(() => markDifferences(text, other), [text, other])
  return (
    <p className="break-words whitespace-pre-wrap">
      {parts === null
        ? text
        : parts.map((part, index) =>
            part.isMarked ? (
              <mark key={index} className="rounded-xs bg-warn-soft text-ink underline decoration-warn">
                {part.text}
              </mark>
            ) : (
              part.text
            ),
          )}
    </p>
  )
}
