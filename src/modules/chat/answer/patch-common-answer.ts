import { skipJsonValue } from '../../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { TokenUsage } from '../../../wires/token-usage.ts'

interface CommonAnswer {
  /** The parsed text. */
  readonly members: Readonly<Record<string, unknown>>
  readonly requestedModel: string
  readonly usage: TokenUsage
  readonly costNanoUsd: NanoUsd
}

/**
 * Puts our model id and the cost into an answer whose usage is already complete. Edits two places of the text and does not scan
 * the rest. Returns null for every other answer.
 */
export function patchCommonAnswer(text: string, answer: CommonAnswer): string | null {
  const { members, requestedModel, usage, costNanoUsd } = answer
  if (!isWhole(members['usage'], usage)) return null
  const usageStart = findOnlyMember(text, USAGE)
  if (usageStart === -1) return null
  const usageEnd = skipJsonValue(text, usageStart) - 1
  const rest = `${text.slice(0, usageEnd)},"cost_usd":${formatUsd(costNanoUsd)}${text.slice(usageEnd)}`
  if (members['model'] === requestedModel) return rest
  const modelStart = findOnlyMember(text, MODEL)
  if (modelStart === -1 || modelStart > usageStart) return null
  return (
    text.slice(0, modelStart) + JSON.stringify(requestedModel) + rest.slice(skipJsonValue(text, modelStart))
  )
}

const USAGE = '"usage"'
const MODEL = '"model"'
const COLON = 0x3a

/**
 * Returns where the value of a member begins that occurs once in the text; otherwise -1. Inside a string the quotes would be
 * escaped, so a match is a member and the only one of its name.
 */
function findOnlyMember(text: string, quotedName: string): number {
  const valueStart = text.indexOf(quotedName) + quotedName.length + 1
  if (text.charCodeAt(valueStart - 1) !== COLON || valueStart === quotedName.length) return -1
  return text.includes(quotedName, valueStart) ? -1 : valueStart
}

/** Whether the usage equals ours except for the cost. */
function isWhole(reported: unknown, usage: TokenUsage): boolean {
  if (!isRecord(reported)) return false
  const prompt = reported['prompt_tokens_details']
  const completion = reported['completion_tokens_details']
  return (
    reported['prompt_tokens'] === usage.promptTokens &&
    reported['completion_tokens'] === usage.completionTokens &&
    reported['total_tokens'] === usage.promptTokens + usage.completionTokens &&
    isRecord(prompt) &&
    prompt['cached_tokens'] === usage.cachedTokens &&
    (prompt['cache_write_tokens'] ?? 0) === (usage.cacheWriteTokens ?? 0) &&
    isRecord(completion) &&
    completion['reasoning_tokens'] === usage.reasoningTokens &&
    !('cost_usd' in reported)
  )
}
