import type { Deployments } from '../../modules/deployments/deployments.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'

/** Tells the deployments of a request that is over, where one of them was asked. */
export function measureDeployment(
  deployments: Pick<Deployments, 'noteRequest'>,
  { model, usage, firstTokenMs, outcome, attempts }: InferenceRecord,
  durationMs: number,
): void {
  // What was refused for its form never got as far as the deployment.
  if (model === null || outcome === 'running') return
  // Handed to a task, which is counted when it has ended.
  if (outcome === 'completed' && attempts.length === 0) return
  deployments.noteRequest(model, {
    durationMs,
    firstTokenMs,
    tokensIn: usage?.promptTokens ?? 0,
    tokensOut: usage?.completionTokens ?? 0,
    isError: outcome === 'failed',
  })
}
