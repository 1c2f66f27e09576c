import { formatShare } from './format-count.ts'

/** Says how a figure compares with the period before. Null if there is nothing to compare with. */
export function describeChange(change: number | null): string | null {
  if (change === null) return null
  const size = formatShare(Math.abs(change))
  return change === 0 ? 'As in the period before' : `${size} ${change > 0 ? 'more' : 'less'} than before`
}
