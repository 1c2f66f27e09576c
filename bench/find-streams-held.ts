import type { HeldStreamsResult } from './load/load-job.ts'

export interface StreamsHeld {
  readonly streams: number
  /** True if the contestant might hold more streams than were tried. */
  readonly isLimitReached: boolean
  readonly attempts: readonly { readonly streams: number; readonly onTimeShare: number }[]
}

const ON_TIME_SHARE_MIN = 0.95

/**
 * Doubles the number of streams until they are no longer held, then bisects. Repeats a failed attempt, because the machine may be
 * the cause.
 */
export async function findStreamsHeld({
  streamsMin,
  streamsMax,
  tries,
  bisections,
  attempt,
}: {
  streamsMin: number
  streamsMax: number
  tries: number
  bisections: number
  attempt: (streams: number) => Promise<HeldStreamsResult>
}): Promise<StreamsHeld> {
  const attempts: { streams: number; onTimeShare: number }[] = []
  const holds = async (streams: number) => {
    for (let attempted = 0; attempted < tries; attempted += 1) {
      const { chunksOnTime, chunksExpected } = await attempt(streams)
      const onTimeShare = chunksOnTime / chunksExpected
      attempts.push({ streams, onTimeShare })
      if (onTimeShare >= ON_TIME_SHARE_MIN) return true
    }
    return false
  }

  let held = 0
  let failed = streamsMin
  while (failed <= streamsMax && (await holds(failed))) {
    held = failed
    failed *= 2
  }
  const isLimitReached = failed > streamsMax
  for (let step = 0; step < (isLimitReached ? 0 : bisections); step += 1) {
    const middle = Math.round((held + failed) / 2)
    if (await holds(middle)) held = middle
    else failed = middle
  }
  return { streams: held, isLimitReached, attempts }
}
