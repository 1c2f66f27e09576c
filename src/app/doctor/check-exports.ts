import type { SinkState } from '../../modules/exports/exports.ts'
import type { Finding } from './finding.ts'

const LAG_MS_MAX = 900_000
/** A sink that was just added, or whose process just ended, is taken up within this time. */
const CLAIM_MS_MAX = 120_000

export interface ExpectedExports {
  /** The sinks in the settings. */
  readonly names: readonly string[]
  readonly nowMs: number
  /** Whether this database is a restored copy, which exports nothing. */
  readonly isPaused: boolean
}

/** Looks at the exports of requests to systems of the operator. */
export function checkExports(
  sinks: readonly SinkState[],
  { names, nowMs, isPaused }: ExpectedExports,
): Finding[] {
  if (isPaused) return []
  const findings = sinks.flatMap((sink) => checkSink(sink, names.includes(sink.name), nowMs))
  const unknown = names.filter((name) => !sinks.some((sink) => sink.name === name))
  for (const subject of unknown)
    findings.push({
      code: 'export_not_begun',
      level: 'warning',
      subject,
      message: 'No worker has begun to export to it, and requests are not kept for it.',
      mend: 'Start a worker with these settings, and stop gateways of earlier releases.',
    })
  return findings
}

function checkSink(sink: SinkState, isInSettings: boolean, nowMs: number): Finding[] {
  const { name: subject, failures, lastError, waitedMs, skipped } = sink
  const findings: Finding[] = []
  const lag = `${sink.waiting} requests wait, the first one for ${Math.round(waitedMs / 60_000)} minutes`
  if (waitedMs > LAG_MS_MAX)
    findings.push({
      code: 'export_behind',
      level: 'warning',
      subject,
      message: failures > 0 ? `${lag}: ${lastError}` : `${lag}.`,
      mend: 'Mend or enlarge the receiver. After PARKWAY_EXPORT_KEPT_HOURS requests are skipped. See docs/runbooks.md.',
    })
  else if (failures > 0)
    findings.push({
      code: 'export_failing',
      level: 'warning',
      subject,
      message: `The last ${failures} attempts to export failed: ${lastError}`,
      mend: 'Look at the receiver and at the secrets in PARKWAY_EXPORTS. It is tried again every 30 seconds.',
    })
  if (isInSettings && !sink.isWorkedOn && nowMs - sink.createdAtMs > CLAIM_MS_MAX)
    findings.push({
      code: 'export_without_worker',
      level: 'warning',
      subject,
      message: 'No running worker exports to it.',
      mend: 'Start a worker with these settings: `parkway serve --role worker`.',
    })
  if (skipped > 0)
    findings.push({
      code: 'export_skipped',
      level: 'info',
      subject,
      message: `It did not get ${skipped} requests, because they waited too long or were not in the log any more.`,
      mend: 'They are in the request log and in usage as long as those are kept: docs/exports.md.',
    })
  return findings
}
