import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import { median, medianRange } from '../statistics.ts'
import { cpuPerRequestUs, databaseCpuPerRequestUs, differences, throughputRatios } from './request-samples.ts'
import type { CrowdedSamples, RequestSamples, Samples } from './request-samples.ts'
import type { MetricRow, Verdict } from './scenario.ts'

const BILLED = 'parkway'
const FREE = 'parkway-free'
const REQUESTS_LOST_SHARE_MAX = 0.15
const COMMIT_ADDED_US_MAX = 3000

/** Computes the cost of charges and limits: the gateway compared with itself with both off, round by round. */
export function compareBilling({ alone, crowded }: RequestSamples): {
  rows: MetricRow[]
  verdicts: Verdict[]
} {
  if (!crowded.has(BILLED) || !crowded.has(FREE)) return { rows: [], verdicts: [] }
  const ratios = throughputRatios(crowded, BILLED, FREE)
  const ratio = median(ratios)
  const [least, most] = medianRange(ratios).map(formatLoss).toReversed()
  const added = {
    'c=1': addedUs(alone, ({ latencyP50Us }) => latencyP50Us),
    'c=64': addedUs(crowded, (sample) => sample.crowded.latencyP50Us),
  }
  const row = (label: string, text: string): MetricRow => ({
    label: `billing and limits: ${label}`,
    cells: { [BILLED]: text },
  })
  return {
    rows: [
      row('× requests/s', formatRatio(ratio)),
      ...Object.entries(added).map(([at, us]) => row(`added p50, ${at}`, formatMicroseconds(us))),
    ],
    verdicts: [
      {
        target: `cost of billing and limits: at most ${100 * REQUESTS_LOST_SHARE_MAX} % fewer requests a second`,
        measured: `${formatLoss(ratio)} % fewer (95 %: ${least} to ${most}; ${describeCpu(crowded)})`,
        isMet: ratio >= 1 - REQUESTS_LOST_SHARE_MAX,
      },
      ...Object.entries(added).map(([at, us]) => ({
        target: `cost of billing and limits: at most ${COMMIT_ADDED_US_MAX / 1000} ms at the median to the end of a response, ${at}`,
        measured: formatMicroseconds(us),
        isMet: us <= COMMIT_ADDED_US_MAX,
      })),
    ],
  }
}

function formatLoss(ratio: number): string {
  return (100 * (1 - ratio)).toFixed(1)
}

function addedUs<Sample>(samples: Samples<Sample>, figure: (sample: Sample) => number): number {
  return median(differences(samples, { id: BILLED, from: FREE, figure }))
}

function describeCpu(samples: CrowdedSamples): string {
  const cpuUs = (id: string) => formatCount(median(cpuPerRequestUs(samples, id)))
  const databaseUs = formatCount(median(databaseCpuPerRequestUs(samples, BILLED)))
  return `CPU a request ${cpuUs(FREE)} → ${cpuUs(BILLED)} µs, and ${databaseUs} µs of PostgreSQL`
}
