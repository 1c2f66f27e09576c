import type { Registry } from 'prom-client'
import { createCounterFamily, createHistogramFamily, observe } from './metric-family.ts'

/** Metrics of the work of tasks. */
export interface TaskMetrics {
  /** Called when a worker has worked on a task, whether the task ended with it or is tried again. */
  worked(work: { type: string; outcome: string; durationMs: number }): void
}

const WORK_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600]

export function createTaskMetrics(registry: Registry): TaskMetrics {
  const attempts = createCounterFamily(registry, {
    name: 'parkway_task_attempts_total',
    help: 'Work of workers on tasks, by how it ended.',
    labelNames: ['type', 'outcome'],
  })
  const seconds = createHistogramFamily(registry, {
    name: 'parkway_task_work_seconds',
    help: 'How long a worker worked on a task.',
    labelNames: ['type'],
    bounds: WORK_SECONDS,
  })
  return {
    worked: ({ type, outcome, durationMs }) => {
      attempts.series(type, outcome).value += 1
      observe(seconds.series(type), durationMs / 1e3)
    },
  }
}
