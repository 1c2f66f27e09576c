const ANSWERS_PER_CONNECTION_MIN = 3
const WINDOW_MS_MAX = 6000

/** A slow contestant is measured longer, because few or none of its answers would arrive in a short window. */
export function chooseWindowMs({ secondsPerRound, concurrency, exchangesPerSecond }: WindowNeeds): number {
  const neededMs = ((ANSWERS_PER_CONNECTION_MIN * concurrency) / Math.max(1, exchangesPerSecond)) * 1000
  return Math.min(WINDOW_MS_MAX, Math.max(secondsPerRound * 1000, neededMs))
}

interface WindowNeeds {
  readonly secondsPerRound: number
  readonly concurrency: number
  /** The contestant's rate during the warm-up. */
  readonly exchangesPerSecond: number
}
