import { explainRefusal, type Limits } from '../../limits/limits.ts'
import { demandOf } from '../attempts/operation-traits.ts'
import type { ModelChoice, ResolvedCall } from './make-paid-call.ts'

/**
 * Takes what a call needs of the limits that its project has for the model. Throws `rate_limit_exceeded` if one is reached. Returns null at
 * once if there are none. The model has to be known: an alias or a request without a model counts as the model that answers.
 */
export function admitModel(
  limits: Pick<Limits, 'admitModel'>,
  { asked, model }: Pick<ResolvedCall<ModelChoice>, 'asked' | 'model'>,
  images: number,
): Promise<void> | null {
  const { caller, record, bytes } = asked
  // Checked before anything is computed, for the requests of all other projects.
  if ((caller.project?.rates ?? null) === null) return null
  const { operation } = record
  const isHeard = operation === 'stt' || operation === 'translation'
  const { tokens } = demandOf(operation, record.asked ?? {}, bytes)
  const demand = { tokens, images, audioBytes: isHeard ? bytes : 0 }
  const admitting = limits.admitModel(caller, model.id, demand)
  if (admitting === null) return null
  return admitting.then((outcome) => {
    if (outcome.isAdmitted) record.ofModel = outcome
    else throw explainRefusal(outcome)
  })
}
