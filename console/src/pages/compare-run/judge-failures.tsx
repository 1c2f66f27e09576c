import type { CompareRun } from '../../api/compare.ts'
import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'

/** Tells what the judge of a run could not judge, with the first reason. */
export function JudgeFailures({ run }: { readonly run: CompareRun }) {
  const { judging, judge } = run
  if (judging === null || judging.error === null || judging.judgements_failed === 0) return null
  const { judgements_failed: failed, judgements_total: total, error, cost_usd: cost } = judging
  return (
    <p role="alert" className="rounded-lg bg-warn-soft px-4 py-3 text-sm break-words">
      {failed === total ? 'All' : formatCount(failed)} of {formatCountOf(total, 'judgement')} by{' '}
      {judge?.model} failed and cost {formatUsd(cost)} with the others. The first reason: {error.message}{' '}
      <span className="font-mono text-xs text-ink-soft">{error.code}</span>
    </p>
  )
}

/** How far a run is: its answers, and then its judgements. */
export function describeProgress({ cells_done: done, cells_total: total, judging }: CompareRun): string {
  const answers = `${formatCount(done)} of ${formatCountOf(total, 'answer')}`
  if (judging === null) return answers
  const judged = judging.judgements_done + judging.judgements_failed
  return `${answers}, ${formatCount(judged)} of ${formatCountOf(judging.judgements_total, 'judgement')}`
}
