import type { ModerationRequest } from '../../wires/openai-moderations/moderation-request.ts'
import { countInput, countUnits, priceTokens, type CatalogModel } from '../catalog/catalog.ts'
import {
  createWholeOperation,
  type Inference,
  type InferenceRequest,
  type PricedCount,
  type WholeAnswer,
} from '../inference/inference.ts'
import { TextTokens } from '../../kernel/tokens/text-tokens.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { OwnFiles } from '../media/media.ts'
import { finishModeration } from './finish-moderation.ts'
import { inlinePictures, refuseAddresses } from './inline-pictures.ts'

export interface Moderation {
  moderate(request: InferenceRequest<ModerationRequest>): Promise<WholeAnswer>
}

interface ModerationOptions {
  readonly inference: Pick<Inference, 'selectorFor' | 'answer' | 'pay'>
  readonly ledger: Pick<Ledger, 'hold'>
  readonly media: OwnFiles
  readonly countTokens: (text: string) => number
}

/** Free requests are held and charged with a zero amount, so that they appear in the usage. */
export function createModeration({ inference, ledger, media, countTokens }: ModerationOptions): Moderation {
  const priceOf = ({ price }: CatalogModel, { input }: ModerationRequest): PricedCount => {
    if (price.unit !== 'token') return { priceNanoUsd: price.nanoUsdPerUnit, counted: countUnits(1) }
    const promptTokens = countTexts(input, countTokens)
    const priceNanoUsd = priceTokens(price, { promptTokens, cachedTokens: 0, completionTokens: 0 })
    return { priceNanoUsd, counted: countInput(promptTokens) }
  }

  const operation = createWholeOperation<ModerationRequest>(inference, {
    selector: inference.selectorFor(['moderation'], ({ moderation }) => moderation !== undefined),
    of: ({ moderation, isOwnServer }) => {
      if (moderation === undefined || isOwnServer !== true) return moderation
      return (call) => {
        refuseAddresses(call.body)
        return moderation(call)
      }
    },
    hold: (model, { body, caller, cancellation }, atMs) => {
      const { priceNanoUsd: amountNanoUsd } = priceOf(model, body)
      return ledger.hold(caller, {
        wantedNanoUsd: amountNanoUsd,
        leastNanoUsd: amountNanoUsd,
        model: model.id,
        labels: labelsOf(caller),
        atMs,
        cancellation,
      })
    },
    finish: (payload, question) => {
      const answer = finishModeration(payload, question)
      question.charge(priceOf(question.model, question.request.body))
      return answer
    },
    priceUnread: (model, { body }) => priceOf(model, body),
  })
  return {
    moderate: async (request) => inference.pay(operation, await inlinePictures(media, request)),
  }
}

const WHOLE_TOKENS_MAX = 32_768
/** The tokens of an image of usual size at the vendors that publish a formula. */
const TOKENS_PER_PICTURE = 1000

function countTexts(input: ModerationRequest['input'], count: (text: string) => number): number {
  const text = new TextTokens({ count, wholeTokensMax: WHOLE_TOKENS_MAX, sampleMargin: 1 })
  let pictureTokens = 0
  for (const item of typeof input === 'string' ? [input] : input) {
    if (typeof item === 'string') text.add(item)
    else if (item.type === 'text') text.add(item.text)
    else pictureTokens += TOKENS_PER_PICTURE
  }
  return text.tokens + pictureTokens
}
