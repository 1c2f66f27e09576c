import type { Deployments } from '../../modules/deployments/deployments.ts'
import type { InferenceRecord } from '../../modules/inference/inference.ts'

/** Tells the deployments of a request that is over, where one of them was asked. */
export function measureDeployment(
  deployments: Pick<Deployments, 'noteRequest'>,
  { model, usage, firstTokenMs, outcome }: InferenceRecord,
  durationMs: number,
): void {
  // What was refused for its form never got as far as the deployment.
  if (model === null || outcome === 'running') return
  deployments.noteRequest(model, {
    durationMs,
    firstTokenMs,
    tokensIn: usage?.promptTokens ?? 0,
    tokensOut: usage?.completionTokens ?? 0,
    isError: outcome === 'failed',
  })
}
