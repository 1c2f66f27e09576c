import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import { median, medianRange } from '../statistics.ts'
import { cpuPerRequestUs, databaseCpuPerRequestUs, differences, throughputRatios } from './request-samples.ts'
import type { RequestSample, RequestSamples } from './request-samples.ts'
import type { MetricRow, Verdict } from './scenario.ts'

const BILLED = 'parkway'
const FREE = 'parkway-free'
const REQUESTS_LOST_SHARE_MAX = 0.15
/** What a durable charge may add to the end of a response. */
export const COMMIT_ADDED_US_MAX = 3000

/** What charging and limiting cost: the gateway against itself with both turned off, round by round. */
export function compareBilling(samples: RequestSamples): { rows: MetricRow[]; verdicts: Verdict[] } {
  if (!samples.has(BILLED) || !samples.has(FREE)) return { rows: [], verdicts: [] }
  const ratios = throughputRatios(samples, BILLED, FREE)
  const ratio = median(ratios)
  const [least, most] = medianRange(ratios).map(formatLoss).toReversed()
  const addedUs = {
    'c=1': addedP50Us(samples, ({ alone }) => alone.latencyP50Us),
    'c=64': addedP50Us(samples, ({ crowded }) => crowded.latencyP50Us),
  }
  const row = (label: string, text: string): MetricRow => ({
    label: `billing and limits: ${label}`,
    cells: { [BILLED]: text },
  })
  return {
    rows: [
      row('× requests/s', formatRatio(ratio)),
      ...Object.entries(addedUs).map(([at, us]) => row(`added p50, ${at}`, formatMicroseconds(us))),
    ],
    verdicts: [
      {
        target: `cost of billing and limits: at most ${100 * REQUESTS_LOST_SHARE_MAX} % fewer requests a second`,
        measured: `${formatLoss(ratio)} % fewer (95 %: ${least} to ${most}; ${describeCpu(samples)})`,
        isMet: ratio >= 1 - REQUESTS_LOST_SHARE_MAX,
      },
      ...Object.entries(addedUs).map(([at, us]) => ({
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

function addedP50Us(samples: RequestSamples, figure: (sample: RequestSample) => number): number {
  return median(differences(samples, { id: BILLED, from: FREE, figure }))
}

function describeCpu(samples: RequestSamples): string {
  const cpuUs = (id: string) => formatCount(median(cpuPerRequestUs(samples, id)))
  const databaseUs = formatCount(median(databaseCpuPerRequestUs(samples, BILLED)))
  return `CPU a request ${cpuUs(FREE)} → ${cpuUs(BILLED)} µs, and ${databaseUs} µs of PostgreSQL`
}
