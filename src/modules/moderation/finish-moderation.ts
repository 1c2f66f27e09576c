import { createToken } from '../../kernel/identifiers.ts'
import { isRecord } from '../../kernel/is-record.ts'
import {
  MODERATION_CATEGORIES,
  type ModerationRequest,
} from '../../wires/openai-moderations/moderation-request.ts'
import { parsePayload, type WholeQuestion } from '../inference/inference.ts'
import { invalidAnswer } from '../../providers/failures/upstream-error.ts'

const ID_PREFIX = 'modr-'

/** Validates an upstream's result and completes it: categories that the upstream does not know are added as not flagged. */
export function finishModeration(payload: Buffer, question: WholeQuestion<ModerationRequest>): string {
  const { provider, requestedModel, request } = question
  const { input } = request.body
  const { members, list } = parsePayload(provider, payload, 'results')
  const inputs = countInputs(input)
  if (list.length !== inputs) throw invalidAnswer(provider, `it judged ${list.length} of ${inputs} inputs`)
  const inputTypes = hasText(input) ? ['text'] : []
  const results = list.map((result) => completeResult(result, provider, inputTypes))
  const { id } = members
  return JSON.stringify({
    ...members,
    id: typeof id === 'string' && id.startsWith(ID_PREFIX) ? id : createToken(ID_PREFIX),
    model: requestedModel,
    results,
  })
}

/** A list of texts gives one result each; the parts of one message give one result together. */
function countInputs(input: ModerationRequest['input']): number {
  return typeof input !== 'string' && typeof input[0] === 'string' ? input.length : 1
}

function hasText(input: ModerationRequest['input']): boolean {
  if (typeof input === 'string') return true
  return input.some((item) => typeof item === 'string' || item.type === 'text')
}

function completeResult(
  result: Record<string, unknown>,
  provider: string,
  inputTypes: readonly string[],
): Record<string, unknown> {
  const { flagged, categories, category_scores: scores, category_applied_input_types: applied } = result
  if (!isRecord(categories) || !isRecord(scores))
    throw invalidAnswer(provider, 'it sent a judgement that is none')
  const appliedTypes = isRecord(applied) ? applied : {}
  const found: Record<string, unknown> = { ...categories }
  const scored: Record<string, unknown> = { ...scores }
  const types: Record<string, unknown> = { ...appliedTypes }
  for (const category of MODERATION_CATEGORIES) {
    const isKnown = typeof categories[category] === 'boolean'
    if (!isKnown) found[category] = false
    if (typeof scores[category] !== 'number') scored[category] = 0
    if (!Array.isArray(appliedTypes[category])) types[category] = isKnown ? inputTypes : []
  }
  return {
    ...result,
    flagged: typeof flagged === 'boolean' ? flagged : Object.values(found).includes(true),
    categories: found,
    category_scores: scored,
    category_applied_input_types: types,
  }
}
