import { formatShare, formatShortCount } from './format-count.ts'

/** From this factor on a change is told as a factor, because nobody reads thousands of per cent. */
const FACTOR_MIN = 3

/** A smaller change would be told as 0.0 %. */
const SHARE_MIN = 0.0005

/** Says how a figure compares with the period before. Null if there is nothing to compare with. */
export function describeChange(change: number | null, before = 'before'): string | null {
  if (change === null) return null
  if (change === 0) return `As much as ${before}`
  if (Math.abs(change) < SHARE_MIN) return `About as much as ${before}`
  const factor = change + 1
  if (factor >= FACTOR_MIN)
    return `${formatShortCount(Number(factor.toPrecision(2)))} times as much as ${before}`
  return `${formatShare(Math.abs(change))} ${change > 0 ? 'more' : 'less'} than ${before}`
}
