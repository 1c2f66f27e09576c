import { useEffect, useState } from 'react'
import { formatDuration } from '../format/format-duration.ts'

interface ProgressBarProps {
  readonly label: string
  /** From 0 to 100, or null if it is not known. */
  readonly percent: number | null
  /** When the work began, to tell how much time is left. */
  readonly startedAtMs?: number | null | undefined
}

/** How far something is, and how long the rest will take at the present rate. */
export function ProgressBar({ label, percent, startedAtMs }: ProgressBarProps) {
  const left = useTimeLeft(percent, startedAtMs ?? null)
  return (
    <div className="flex flex-col gap-1">
      <div className="flex justify-between gap-4 text-xs text-ink-soft">
        <span className="truncate">{label}</span>
        <span className="tabular whitespace-nowrap">
          {percent === null ? 'waiting' : `${Math.round(percent)} %`}
          {left !== null && ` · about ${left} left`}
        </span>
      </div>
      <progress
        aria-label={label}
        max={100}
        {...(percent === null ? {} : { value: percent })}
        className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-hover [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:rounded-full [&::-webkit-progress-value]:bg-accent [&::-webkit-progress-value]:transition-[width]"
      />
    </div>
  )
}

function useTimeLeft(percent: number | null, startedAtMs: number | null): string | null {
  const [nowMs, setNowMs] = useState(() => Date.now())
  const isRunning = percent !== null && percent > 0 && percent < 100 && startedAtMs !== null
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => setNowMs(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isRunning])
  if (!isRunning) return null
  const elapsedMs = Math.max(0, nowMs - startedAtMs)
  // The first seconds say too little about the rest.
  if (elapsedMs < 1000) return null
  return formatDuration(Math.max(1000, (elapsedMs * (100 - percent)) / percent))
}
