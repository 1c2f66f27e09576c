import type { TaskType } from './task.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The time limit of each task type, from its first start and over all attempts. */
export const DEADLINES_MS: Readonly<Record<TaskType, number>> = {
  image: 5 * MINUTE_MS,
  edit: 5 * MINUTE_MS,
  upscale: 5 * MINUTE_MS,
  bg_remove: 5 * MINUTE_MS,
  tts: 5 * MINUTE_MS,
  stt: 10 * MINUTE_MS,
  music: 15 * MINUTE_MS,
  video: 30 * MINUTE_MS,
  response: 30 * MINUTE_MS,
}

/** How long a task may wait for its first start. */
export const QUEUE_MS_MAX = 6 * HOUR_MS

/** How long a hold outlives its task. The task closes the hold; it expires only if that failed. */
export const HOLD_MARGIN_MS = 15 * MINUTE_MS

export function daysToMs(days: number): number {
  return days * DAY_MS
}
