import { countTokens } from '../../kernel/tokens/count-tokens.ts'
import { createEmbeddings, type Embeddings } from '../../modules/embeddings/embeddings.ts'
import type { Inference } from '../../modules/inference/inference.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import type { Media } from '../../modules/media/media.ts'
import { createModeration, type Moderation } from '../../modules/moderation/moderation.ts'
import { createRerank, type Rerank } from '../../modules/rerank/rerank.ts'

interface WholeAnswerParts {
  readonly inference: Inference
  readonly ledger: Pick<Ledger, 'hold' | 'holdAtOnce' | 'knownBalanceNanoUsd'>
  readonly media: Media
}

/** What answers in one piece. */
export interface BuiltWholeAnswers {
  readonly embeddings: Embeddings
  readonly rerank: Rerank
  readonly moderation: Moderation
}

export function buildWholeAnswers({ inference, ledger, media }: WholeAnswerParts): BuiltWholeAnswers {
  return {
    embeddings: createEmbeddings({ inference, ledger, countTokens }),
    rerank: createRerank({ inference, ledger, countTokens }),
    moderation: createModeration({ inference, ledger, media, countTokens }),
  }
}
