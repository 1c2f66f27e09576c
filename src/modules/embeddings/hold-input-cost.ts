import type { NanoUsd } from '../../kernel/money.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { InferenceRequest } from '../inference/inference.ts'
import { labelsOf } from '../keys/keys.ts'
import { isRefusal, type Hold, type Ledger } from '../ledger/ledger.ts'
import { boundInputTokens, refineInputTokens } from './input-tokens.ts'

interface InputCost {
  readonly atMs: number
  readonly priceOf: (promptTokens: number) => NanoUsd
}

/** Holds the maximum cost of the bytes. Counts the tokens only if the credit does not cover that. */
export function holdInputCost(
  ledger: Pick<Ledger, 'hold' | 'holdAtOnce' | 'knownBalanceNanoUsd'>,
  model: CatalogModel,
  { body, bytes, caller, cancellation }: InferenceRequest<EmbeddingRequest>,
  { atMs, priceOf }: InputCost,
): Hold | Promise<Hold> {
  const charged = { model: model.id, labels: labelsOf(caller), atMs }
  const hold = (amountNanoUsd: NanoUsd, isPatient: boolean): Hold | Promise<Hold> =>
    ledger.hold(caller, {
      ...charged,
      wantedNanoUsd: amountNanoUsd,
      leastNanoUsd: amountNanoUsd,
      isPatient,
      cancellation,
    })
  const holdCounted = () => hold(priceOf(refineInputTokens(model, body.input, bytes)), true)

  const bound = priceOf(boundInputTokens(model, body.input, bytes))
  const ample = ledger.holdAtOnce(caller, { ...charged, wantedNanoUsd: bound })
  if (ample !== null) return ample
  const balance = ledger.knownBalanceNanoUsd(caller.accountId)
  if (balance !== undefined && balance < bound) return holdCounted()
  const held = hold(bound, false)
  if (!(held instanceof Promise)) return held
  return held.catch((error: unknown) => {
    if (isRefusal(error)) return holdCounted()
    throw error
  })
}
