import { toErrorAnswer } from '../http/answers/error-envelope.ts'
import { createResponses, type Responses } from '../modules/responses/responses.ts'
import { daysToMs, type TaskPerformer } from '../modules/tasks/tasks.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Config } from './config.ts'
import { tokenCounts } from './trace-inference.ts'

interface ResponseParts extends Omit<
  Parameters<typeof createResponses>[0],
  'retentionMs' | 'historyBytesMax' | 'onCall'
> {
  readonly metrics: Metrics
}

const ROUTE = '/v1/responses'

export function buildResponses(config: Config, { metrics, ...parts }: ResponseParts): Responses {
  return createResponses({
    ...parts,
    retentionMs: daysToMs(config.responseRetentionDays),
    historyBytesMax: config.bodyBytesMax,
    // Calls that nobody waits for are counted among the requests: they use the same models and cost the same.
    onCall: ({ record, durationMs, error }) => {
      const { model, provider, firstTokenMs, usage } = record
      metrics.requestStarted(ROUTE)
      metrics.requestFinished({
        route: ROUTE,
        status: error === null ? 200 : toErrorAnswer(error, '').status,
        durationMs,
        model: model ?? undefined,
        provider: provider ?? undefined,
        firstTokenMs: firstTokenMs ?? undefined,
        usage: usage === null ? undefined : tokenCounts(usage),
      })
    },
  })
}

/** Every task goes to who knows its type. */
export function performByType(responses: TaskPerformer, others: TaskPerformer): TaskPerformer {
  const performerOf = (type: string): TaskPerformer => (type === 'response' ? responses : others)
  return {
    perform: (task, control) => performerOf(task.type).perform(task, control),
    cancelJob: (task) => performerOf(task.type).cancelJob(task),
  }
}
