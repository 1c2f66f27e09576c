import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  MODERATION_CATEGORIES,
  type ModerationRequest,
} from '../../../../wires/openai-moderations/moderation-request.ts'
import type { InferenceOperation } from '../../../provider.ts'
import { damagePayload } from '../../faults/inject-fault.ts'
import { createRandomFromText } from '../../../../kernel/seeded-random.ts'
import { beginCall, type SandboxParts } from '../begin-call.ts'
import { MODERATION_PATTERNS, PICTURE_CATEGORIES, type ModerationCategory } from './moderation-patterns.ts'

/** Moderates by plain phrases, in OpenAI's form and with all of its categories. */
export function createModeration(parts: SandboxParts): InferenceOperation<ModerationRequest> {
  return async (call) => {
    const inputs = readInputs(call.body.input)
    const last = inputs.at(-1)
    const { text, fault, faultContext } = await beginCall(parts, last?.text ?? '', call)
    const judged: Judgement[] = []
    for (const input of inputs) {
      judged.push(judge(input === last ? { ...input, text } : input))
      await nextTurn()
      call.cancellation.throwIfCancelled()
    }
    const seed = JSON.stringify(call.body.input).slice(0, SEED_LENGTH_MAX)
    const payload = Buffer.from(
      JSON.stringify({
        id: `modr-${createRandomFromText(seed).hex(24)}`,
        model: call.upstreamModel,
        results: judged,
      }),
    )
    return { kind: 'complete', payload: fault ? await damagePayload(fault, payload, faultContext) : payload }
  }
}

const SEED_LENGTH_MAX = 10_000
const FLAGGED_FROM = 0.5
const TEXT_LENGTH_MAX = 20_000

interface Input {
  readonly text: string
  readonly hasText: boolean
  /** URLs of images. */
  readonly pictures: readonly string[]
}

function readInputs(input: ModerationRequest['input']): Input[] {
  if (typeof input === 'string') return [{ text: input, hasText: true, pictures: [] }]
  const texts: string[] = []
  const partTexts: string[] = []
  const pictures: string[] = []
  for (const item of input) {
    if (typeof item === 'string') texts.push(item)
    else if (item.type === 'text') partTexts.push(item.text)
    else pictures.push(item.image_url.url)
  }
  if (texts.length > 0) return texts.map((text) => ({ text, hasText: true, pictures: [] }))
  return [{ text: partTexts.join('\n'), hasText: partTexts.length > 0, pictures }]
}

interface Judgement {
  readonly flagged: boolean
  readonly categories: Record<string, boolean>
  readonly category_scores: Record<string, number>
  readonly category_applied_input_types: Record<string, readonly string[]>
}

function judge({ text, hasText, pictures }: Input): Judgement {
  const fromText = scoreText(text)
  // Nothing is fetched: an image is judged by the words of its URL.
  const fromPictures = scoreText(pictures.map(readAddressWords).join('\n'))
  const categories: Record<string, boolean> = {}
  const scores: Record<string, number> = {}
  const inputTypes: Record<string, readonly string[]> = {}
  for (const category of MODERATION_CATEGORIES) {
    const seesPictures = pictures.length > 0 && PICTURE_CATEGORIES.has(category)
    const textScore = hasText ? (fromText.get(category) ?? 0) : 0
    const score = Math.max(textScore, seesPictures ? (fromPictures.get(category) ?? 0) : 0)
    categories[category] = score >= FLAGGED_FROM
    scores[category] = score
    inputTypes[category] = [...(hasText ? ['text'] : []), ...(seesPictures ? ['image'] : [])]
  }
  return {
    flagged: Object.values(categories).includes(true),
    categories,
    category_scores: scores,
    category_applied_input_types: inputTypes,
  }
}

function scoreText(text: string): Map<ModerationCategory, number> {
  const bounded = text.slice(0, TEXT_LENGTH_MAX).replaceAll('’', "'")
  const random = createRandomFromText(bounded)
  const scores = new Map<ModerationCategory, number>()
  // Real scores are never exactly zero.
  for (const category of MODERATION_CATEGORIES) scores.set(category, (1 + random.below(99)) / 1e6)
  for (const { pattern, scores: found } of MODERATION_PATTERNS) {
    if (!pattern.test(bounded)) continue
    for (const category of MODERATION_CATEGORIES) {
      const score = found[category] ?? 0
      if (score > 0) scores.set(category, combine(scores.get(category) ?? 0, score))
    }
  }
  return scores
}

/** Combines two scores of the same category: the result is higher than both, but below one. */
function combine(left: number, right: number): number {
  return Math.round((1 - (1 - left) * (1 - right)) * 1e6) / 1e6
}

function readAddressWords(address: string): string {
  return address.startsWith('data:') ? '' : address.slice(0, 2048).replaceAll(/[^a-zA-Z]+/g, ' ')
}
