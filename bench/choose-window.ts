const ANSWERS_PER_CONNECTION_MIN = 3
const WINDOW_MS_MAX = 6000

/** A slow contestant is watched longer: in a short window few of its answers, or none, would have arrived. */
export function chooseWindowMs({ secondsPerRound, concurrency, exchangesPerSecond }: WindowNeeds): number {
  const neededMs = ((ANSWERS_PER_CONNECTION_MIN * concurrency) / Math.max(1, exchangesPerSecond)) * 1000
  return Math.min(WINDOW_MS_MAX, Math.max(secondsPerRound * 1000, neededMs))
}

interface WindowNeeds {
  readonly secondsPerRound: number
  readonly concurrency: number
  /** What the contestant managed while it was warming up. */
  readonly exchangesPerSecond: number
}
