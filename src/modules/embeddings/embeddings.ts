import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { countInput, countUnits, priceTokens, type CatalogModel } from '../catalog/catalog.ts'
import {
  createWholeOperation,
  type Inference,
  type InferenceRequest,
  type PricedCount,
  type WholeAnswer,
} from '../inference/inference.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { checkRequest } from './check-request.ts'
import { finishEmbeddings } from './finish-embeddings.ts'
import { holdInputCost } from './hold-input-cost.ts'
import { countInputTokens } from './input-tokens.ts'

export interface Embeddings {
  embed(request: InferenceRequest<EmbeddingRequest>): Promise<WholeAnswer>
}

interface EmbeddingsOptions {
  readonly inference: Pick<Inference, 'selectorFor' | 'answer' | 'pay'>
  readonly ledger: Pick<Ledger, 'hold' | 'holdAtOnce' | 'knownBalanceNanoUsd'>
  readonly countTokens: (text: string) => number
}

export function createEmbeddings({ inference, ledger, countTokens }: EmbeddingsOptions): Embeddings {
  const operation = createWholeOperation<EmbeddingRequest>(inference, {
    selector: inference.selectorFor(['embedding'], ({ embedding }) => embedding !== undefined),
    of: ({ embedding }) => embedding,
    hold: (model, request, startedMs) => {
      checkRequest(model, request.body)
      const priceOf = (promptTokens: number) => priceInput(model, promptTokens).priceNanoUsd
      return holdInputCost(ledger, model, request, { atMs: startedMs, priceOf })
    },
    finish: (payload, question) =>
      finishEmbeddings(payload, question, {
        countTokens: () => countInputTokens(question.request.body.input, countTokens),
        priceOf: (promptTokens) => priceInput(question.model, promptTokens),
      }),
    priceUnread: (model, { body }) => priceInput(model, countInputTokens(body.input, countTokens)),
  })
  return { embed: (request) => inference.pay(operation, request) }
}

function priceInput({ price }: CatalogModel, promptTokens: number): PricedCount {
  if (price.unit !== 'token') return { priceNanoUsd: price.nanoUsdPerUnit, counted: countUnits(1) }
  const priceNanoUsd = priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens: 0 })
  return { priceNanoUsd, counted: countInput(promptTokens) }
}
