import { isRecord } from '../../kernel/is-record.ts'
import { vendorNamedByModelsDev } from '../../providers/price-list-names.ts'
import { checkPrice } from './check-price.ts'
import {
  ImplausibleEntry,
  type ListedModel,
  type ListedStep,
  type ListedTokenPrice,
  type PriceList,
  type UnusedEntry,
} from './price-list.ts'
import { asPerMillion } from './read-amount.ts'
import { countOf, readEntries } from './read-entries.ts'

type Entry = Readonly<Record<string, unknown>>

const RATE_FIELDS = {
  input_usd_per_1m: 'input',
  cached_input_usd_per_1m: 'cache_read',
  cache_write_usd_per_1m: 'cache_write',
  output_usd_per_1m: 'output',
} as const

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.values(RATE_FIELDS),
  'reasoning',
  'input_audio',
  'output_audio',
  'context_over_200k',
])
/** Where the only step of this list begins. */
const STEP_TOKENS = 200_000

/** Reads the list of models.dev: providers with their models, with dollars for a million tokens. */
export function readModelsDev(content: Entry, duplicates: ReadonlySet<string>): PriceList {
  const models: ListedModel[] = []
  const problems: UnusedEntry[] = []
  let otherProviders = 0
  for (const [name, value] of Object.entries(content)) {
    const members = isRecord(value) ? value['models'] : null
    const provider = vendorNamedByModelsDev(name)
    if (provider === null || !isRecord(members)) {
      otherProviders += isRecord(members) ? Object.keys(members).length : 0
      continue
    }
    const prefixed = Object.fromEntries(
      Object.entries(members).map(([id, model]) => [`${name}/${id}`, model]),
    )
    const read = readEntries(prefixed, duplicates, (key, entry) =>
      readModel(key, entry, { provider, model: key.slice(name.length + 1) }),
    )
    models.push(...read.entries)
    problems.push(...read.problems)
  }
  return { models, problems, otherProviders }
}

function readModel(key: string, entry: Entry, place: Pick<ListedModel, 'provider' | 'model'>): ListedModel {
  const { cost, limit, modalities } = entry
  if (!isRecord(cost)) throw new ImplausibleEntry('it has no price')
  const limits = isRecord(limit) ? limit : {}
  const inputs = isRecord(modalities) && Array.isArray(modalities['input']) ? modalities['input'] : []
  const price = readPrice(cost)
  checkPrice(price, { hasOutput: true })
  return {
    key,
    ...place,
    price,
    category: 'llm',
    contextTokens: countOf(limits['context'], 'limit.context'),
    maxOutputTokens: countOf(limits['output'], 'limit.output'),
    capabilities: [
      ...(entry['tool_call'] === true ? (['tool_use'] as const) : []),
      ...(inputs.includes('image') ? (['vision'] as const) : []),
      ...(entry['reasoning'] === true ? (['reasoning'] as const) : []),
    ],
    endsOn: null,
  }
}

function readPrice(cost: Entry): ListedTokenPrice {
  for (const field of Object.keys(cost))
    if (!KNOWN_FIELDS.has(field))
      throw new ImplausibleEntry(`cost.${field.slice(0, 100).toWellFormed()} is not a field that is known`)
  const rates = readRates(cost, 'cost')
  const reasoning = amountOf(cost, 'reasoning', 'cost')
  if (reasoning !== undefined && reasoning > rates.output_usd_per_1m)
    throw new ImplausibleEntry('reasoning costs more than other output, which this gateway cannot charge')
  const audioIn = amountOf(cost, 'input_audio', 'cost')
  const audioOut = amountOf(cost, 'output_audio', 'cost')
  const over = cost['context_over_200k']
  if (over !== undefined && over !== null && !isRecord(over))
    throw new ImplausibleEntry('cost.context_over_200k is not an object')
  const steps: readonly ListedStep[] = isRecord(over)
    ? [{ above_tokens: STEP_TOKENS, ...readRates(over, 'cost.context_over_200k') }]
    : []
  return {
    unit: 'token',
    ...rates,
    ...(audioIn === undefined ? {} : { audio_input_usd_per_1m: audioIn }),
    ...(audioOut === undefined ? {} : { audio_output_usd_per_1m: audioOut }),
    ...(steps.length === 0 ? {} : { long_context: steps }),
  }
}

function readRates(cost: Entry, place: string): Omit<ListedStep, 'above_tokens'> {
  const input = amountOf(cost, RATE_FIELDS.input_usd_per_1m, place)
  const output = amountOf(cost, RATE_FIELDS.output_usd_per_1m, place)
  if (input === undefined || output === undefined)
    throw new ImplausibleEntry(`${place} lacks input or output`)
  const cached = amountOf(cost, RATE_FIELDS.cached_input_usd_per_1m, place)
  const write = amountOf(cost, RATE_FIELDS.cache_write_usd_per_1m, place)
  return {
    input_usd_per_1m: input,
    ...(cached === undefined ? {} : { cached_input_usd_per_1m: cached }),
    ...(write === undefined ? {} : { cache_write_usd_per_1m: write }),
    output_usd_per_1m: output,
  }
}

function amountOf(cost: Entry, field: string, place: string): number | undefined {
  const value = cost[field]
  return value === undefined || value === null ? undefined : asPerMillion(value, `${place}.${field}`)
}
