import type { RerankRequest } from '../../wires/rerank/rerank-request.ts'
import {
  createWholeOperation,
  type Inference,
  type InferenceRequest,
  type WholeAnswer,
} from '../inference/inference.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { finishRerank } from './finish-rerank.ts'
import { countSearchUnits } from '../../providers/answers/rerank-answer.ts'
import { boundPrice, countRerankTokens, priceRerank } from './rerank-price.ts'

export interface Rerank {
  rank(request: InferenceRequest<RerankRequest>): Promise<WholeAnswer>
}

interface RerankOptions {
  readonly inference: Pick<Inference, 'selectorFor' | 'answer' | 'pay'>
  readonly ledger: Pick<Ledger, 'hold'>
  readonly countTokens: (text: string) => number
}

export function createRerank({ inference, ledger, countTokens }: RerankOptions): Rerank {
  const operation = createWholeOperation<RerankRequest>(inference, {
    selector: inference.selectorFor(['rerank'], ({ rerank }) => rerank !== undefined),
    of: ({ rerank }) => rerank,
    hold: ({ id: model, price }, { body, caller, cancellation }, atMs) => {
      const bound = boundPrice(price, body, countTokens)
      return ledger.hold(caller, { ...bound, model, labels: labelsOf(caller), atMs, cancellation })
    },
    finish: (payload, question) => finishRerank(payload, question, countTokens),
    priceUnread: ({ price }, { body }) =>
      priceRerank(price, { searchUnits: countSearchUnits(body.documents.length), tokens: null }, () =>
        countRerankTokens(body, countTokens),
      ),
  })
  return { rank: (request) => inference.pay(operation, request) }
}
