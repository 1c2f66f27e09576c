import { writeSync } from 'node:fs'
import type { Count } from './count-answers.ts'

export interface Outcome {
  readonly name: string
  readonly count: Count
}

const HEAD = [
  'fault',
  'rounds',
  'requests',
  'complete',
  'charged',
  'vendor',
  'refused',
  'in doubt (charged)',
  'free, lost, doubled',
  'no answer for at most',
  'refused for at most',
]

/** Prints one line for each kind of fault: sums of the rounds, and the longest times. */
export function printTable(outcomes: readonly Outcome[]): void {
  const names = [...new Set(outcomes.map(({ name }) => name))]
  const rows = names.map((name) =>
    rowOf(
      name,
      outcomes.filter((outcome) => outcome.name === name),
    ),
  )
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  writeSync(2, `\n${lines.join('\n')}\n`)
}

function rowOf(name: string, outcomes: readonly Outcome[]): string[] {
  const counts = outcomes.map(({ count }) => count)
  const sum = (read: (count: Count) => number) => counts.reduce((total, count) => total + read(count), 0)
  const longest = (read: (count: Count) => number) => Math.max(0, ...counts.map(read))
  const seconds = (timeMs: number) => `${(timeMs / 1_000).toFixed(1)} s`
  return [
    name,
    String(counts.length),
    String(sum(({ sent }) => sent)),
    String(sum(({ complete }) => complete)),
    String(sum(({ charges }) => charges)),
    String(sum(({ answered }) => answered)),
    String(sum(({ refused }) => refused)),
    `${sum(({ inDoubt }) => inDoubt)} (${sum(({ chargedInDoubt }) => chargedInDoubt)})`,
    String(sum(({ defects }) => defects.length)),
    seconds(longest(({ pauseMs }) => pauseMs)),
    seconds(longest(({ refusingMs }) => refusingMs)),
  ]
}
