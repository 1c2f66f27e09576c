import { createHash } from 'node:crypto'
import { isRecord } from '../../kernel/is-record.ts'
import { nanoUsdFromUsd } from '../../kernel/money.ts'
import { hasLimits, type KeyLimits, type LimitedKey } from '../../providers/connection/key-limits.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'

type KeySettings = Pick<ProviderSettings, 'apiKeys' | 'keyWeights' | 'keyLimits'>

interface FileKey {
  readonly key: string
  readonly weight: number
  readonly limits: KeyLimits
}

const WEIGHT_MAX = 1_000
const PER_MINUTE_MAX = 1_000_000_000
const BUDGET_USD_MAX = 1_000_000
const MARK_CHARACTERS = 12

/**
 * Reads the keys of a provider in the configuration file: texts, or objects with a weight and limits. Null if they are neither.
 * The problems never repeat a key.
 */
export function readFileKeys(
  provider: string,
  entries: unknown,
  place: string,
  problems: string[],
): KeySettings | null {
  if (!Array.isArray(entries) || !entries.every((entry) => typeof entry === 'string' || isRecord(entry))) {
    problems.push(`${place}: api_keys must be a list of texts, or of objects with api_key`)
    return null
  }
  const keys = entries.map((entry: unknown, index) =>
    readFileKey(entry, `${place}: api_keys.${index}`, problems),
  )
  const apiKeys = keys.map(({ key }) => key)
  const keyLimits = keys.map(({ key, limits }) =>
    hasLimits(limits) ? nameLimits(provider, key, limits) : null,
  )
  return {
    apiKeys,
    ...(keys.every(({ weight }) => weight === 1) ? {} : { keyWeights: keys.map(({ weight }) => weight) }),
    ...(keyLimits.every((limits) => limits === null) ? {} : { keyLimits }),
  }
}

/** All processes count a key under the same name, which does not reveal it and stays when the list changes. */
function nameLimits(provider: string, key: string, limits: KeyLimits): LimitedKey {
  const mark = createHash('sha256').update(`${provider} ${key}`).digest('hex').slice(0, MARK_CHARACTERS)
  return { ...limits, id: `file:${provider}:${mark}` }
}

function readFileKey(entry: unknown, place: string, problems: string[]): FileKey {
  const {
    api_key: key,
    weight = 1,
    requests_per_minute: requests,
    tokens_per_minute: tokens,
    budget_usd_per_day: budget,
    ...rest
  } = isRecord(entry) ? entry : { api_key: entry }
  for (const name of Object.keys(rest)) problems.push(`${place} has the unknown key ${name}`)
  if (typeof key !== 'string' || key === '') problems.push(`${place} needs api_key`)
  const readCount = (name: string, value: unknown, most: number): number | null => {
    if (value === undefined || value === null) return null
    if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most) return Number(value)
    problems.push(`${place}: ${name} must be a whole number from 1 to ${most}`)
    return null
  }
  return {
    key: typeof key === 'string' ? key : '',
    weight: readCount('weight', weight, WEIGHT_MAX) ?? 1,
    limits: {
      requestsPerMinute: readCount('requests_per_minute', requests, PER_MINUTE_MAX),
      tokensPerMinute: readCount('tokens_per_minute', tokens, PER_MINUTE_MAX),
      budgetNanoUsdPerDay: readBudget(budget, place, problems),
    },
  }
}

function readBudget(value: unknown, place: string, problems: string[]): bigint | null {
  if (value === undefined || value === null) return null
  try {
    if (typeof value === 'number' && value > 0 && value <= BUDGET_USD_MAX) return nanoUsdFromUsd(value)
  } catch {
    // More precise than the gateway counts.
  }
  problems.push(
    `${place}: budget_usd_per_day must be dollars above 0 up to ${BUDGET_USD_MAX}, with at most nine decimals`,
  )
  return null
}
