import { createResponses, type Responses } from '../../modules/responses/responses.ts'
import { daysToMs, type TaskPerformer } from '../../modules/tasks/tasks.ts'
import type { Config } from '../settings/config.ts'

type Parts = Omit<Parameters<typeof createResponses>[0], 'retentionMs' | 'historyBytesMax'>

export function buildResponses(config: Config, parts: Parts): Responses {
  return createResponses({
    ...parts,
    retentionMs: daysToMs(config.responseRetentionDays),
    historyBytesMax: config.bodyBytesMax,
  })
}

/** Routes each task to the performer of its type. */
export function performByType(responses: TaskPerformer, others: TaskPerformer): TaskPerformer {
  const performerOf = (type: string): TaskPerformer => (type === 'response' ? responses : others)
  return {
    perform: (task, control) => performerOf(task.type).perform(task, control),
    cancelJob: (task) => performerOf(task.type).cancelJob(task),
    chargeLeft: async (task) => performerOf(task.type).chargeLeft?.(task),
  }
}
