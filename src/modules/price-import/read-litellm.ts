import { vendorNamedByLitellm } from '../../providers/price-list-names.ts'
import { checkPrice } from './check-price.ts'
import {
  ImplausibleEntry,
  type ListedModel,
  type ListedPrice,
  type ListedStep,
  type PriceList,
} from './price-list.ts'
import { perMillion, perUnit } from './read-amount.ts'
import { countOf, dayOf, readEntries } from './read-entries.ts'

type Entry = Readonly<Record<string, unknown>>

/** An entry that explains the format. */
const SAMPLE = 'sample_spec'

const CATEGORIES: ReadonlyMap<unknown, ListedModel['category']> = new Map<unknown, ListedModel['category']>([
  ['chat', 'llm'],
  ['responses', 'llm'],
  ['completion', 'llm'],
  ['embedding', 'embedding'],
  ['rerank', 'rerank'],
  ['image_generation', 'image'],
  ['audio_transcription', 'stt'],
  ['audio_speech', 'tts'],
])

const TOKEN_FIELDS = {
  input_usd_per_1m: 'input_cost_per_token',
  cached_input_usd_per_1m: 'cache_read_input_token_cost',
  cache_write_usd_per_1m: 'cache_creation_input_token_cost',
  cache_write_1h_usd_per_1m: 'cache_creation_input_token_cost_above_1hr',
  output_usd_per_1m: 'output_cost_per_token',
  audio_input_usd_per_1m: 'input_cost_per_audio_token',
  audio_output_usd_per_1m: 'output_cost_per_audio_token',
} as const

const STEP_FIELD =
  /^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost)_above_(\d{1,7})k_tokens$/

/** Prices of what this gateway does not sell or does not ask for: other service levels, hosted tools, storage. */
const OTHER_FIELDS =
  /_(batches|flex|priority|per_session|per_1k_calls|per_gb_per_day|per_1k_tokens|dbu_cost_per_token|per_query|per_page)$|_(priority|flex|batches)_|^search_context_cost|_above_1hr_above_|^(input|output)_dbu_cost|^(input|output)_cost_per_(image|image_token|video_per_second|audio_per_second|character|second|pixel|request|reasoning_token)|^cache_.*_(audio|image|video)|^code_interpreter|^file_search|^vector_store|^computer_use|^citation_cost/

/** What a price is taken from if the model is not priced by the token. */
const UNIT_FIELDS: ReadonlyMap<
  ListedModel['category'],
  readonly [string, 'image' | 'second' | 'character' | 'search']
> = new Map([
  ['image', ['output_cost_per_image', 'image']],
  ['stt', ['input_cost_per_second', 'second']],
  ['tts', ['input_cost_per_character', 'character']],
  ['rerank', ['input_cost_per_query', 'search']],
])

/** Reads LiteLLM's price list: an object of models by name, with dollars for one token. */
export function readLitellm(content: Entry, duplicates: ReadonlySet<string>): PriceList {
  let otherProviders = 0
  const { [SAMPLE]: _, ...members } = content
  const { entries, problems } = readEntries(members, duplicates, (key, entry): ListedModel | null => {
    const provider = vendorNamedByLitellm(String(entry['litellm_provider']))
    const category = CATEGORIES.get(entry['mode'] ?? 'chat')
    if (provider === null || category === undefined) {
      otherProviders += 1
      return null
    }
    requireKnownFields(entry)
    const price = readPrice(entry, category)
    checkPrice(price, { hasOutput: category === 'llm' })
    return {
      key,
      provider,
      model: withoutPrefix(key, String(entry['litellm_provider'])),
      price,
      category,
      contextTokens: countOf(entry['max_input_tokens'] ?? entry['max_tokens'], 'max_input_tokens'),
      maxOutputTokens: category === 'llm' ? countOf(entry['max_output_tokens'], 'max_output_tokens') : null,
      capabilities: [
        ...(entry['supports_function_calling'] === true ? (['tool_use'] as const) : []),
        ...(entry['supports_vision'] === true ? (['vision'] as const) : []),
        ...(entry['supports_reasoning'] === true ? (['reasoning'] as const) : []),
      ],
      endsOn: dayOf(entry['deprecation_date']),
    }
  })
  return { models: entries, problems, otherProviders }
}

/** The list names models of resellers with their own name in front. */
function withoutPrefix(key: string, provider: string): string {
  const prefix = `${provider.replace(/_chat$|-embedding-models$/, '')}/`
  return key.startsWith(prefix) ? key.slice(prefix.length) : key
}

/** A field that was renamed would else be a price that is left out. */
function requireKnownFields(entry: Entry): void {
  const known: readonly string[] = Object.values(TOKEN_FIELDS)
  for (const [field, value] of Object.entries(entry)) {
    if (!/cost|price/.test(field) || value === null) continue
    if (known.includes(field) || STEP_FIELD.test(field) || OTHER_FIELDS.test(field)) continue
    throw new ImplausibleEntry(`${field.slice(0, 100).toWellFormed()} is not a field that is known`)
  }
}

function readPrice(entry: Entry, category: ListedModel['category']): ListedPrice {
  const unit = UNIT_FIELDS.get(category)
  if (unit !== undefined) {
    const [field, name] = unit
    if (entry[field] === undefined) throw new ImplausibleEntry(`it has no price for one ${name}`)
    return { unit: name, usd: perUnit(entry[field], field) }
  }
  const read = (field: keyof typeof TOKEN_FIELDS): number | undefined => {
    const value = entry[TOKEN_FIELDS[field]]
    return value === undefined || value === null ? undefined : perMillion(value, TOKEN_FIELDS[field])
  }
  const input = read('input_usd_per_1m')
  const output = category === 'embedding' ? 0 : read('output_usd_per_1m')
  if (input === undefined || output === undefined) throw new ImplausibleEntry('it has no price for tokens')
  const cached = read('cached_input_usd_per_1m')
  const write = read('cache_write_usd_per_1m')
  const hourWrite = read('cache_write_1h_usd_per_1m')
  const audioIn = read('audio_input_usd_per_1m')
  const audioOut = read('audio_output_usd_per_1m')
  requireReasoningAsOutput(entry, output)
  const steps = readSteps(entry, { input, output })
  return {
    unit: 'token',
    input_usd_per_1m: input,
    ...(cached === undefined ? {} : { cached_input_usd_per_1m: cached }),
    ...(write === undefined ? {} : { cache_write_usd_per_1m: write }),
    ...(hourWrite === undefined ? {} : { cache_write_1h_usd_per_1m: hourWrite }),
    output_usd_per_1m: output,
    ...(audioIn === undefined ? {} : { audio_input_usd_per_1m: audioIn }),
    ...(audioOut === undefined ? {} : { audio_output_usd_per_1m: audioOut }),
    ...(steps.length === 0 ? {} : { long_context: steps }),
  }
}

/** Reasoning is charged as output here. */
function requireReasoningAsOutput(entry: Entry, output: number): void {
  const value = entry['output_cost_per_reasoning_token']
  if (value === undefined || value === null) return
  if (perMillion(value, 'output_cost_per_reasoning_token') > output)
    throw new ImplausibleEntry('reasoning costs more than other output, which this gateway cannot charge')
}

function readSteps(entry: Entry, base: { readonly input: number; readonly output: number }): ListedStep[] {
  const steps = new Map<number, Map<string, number>>()
  for (const [field, value] of Object.entries(entry)) {
    const [, name = '', thousands] = STEP_FIELD.exec(field) ?? []
    if (thousands === undefined || value === null) continue
    const above = Number(thousands) * 1000
    const amounts = steps.get(above) ?? new Map<string, number>()
    steps.set(above, amounts.set(name, perMillion(value, field)))
  }
  return [...steps]
    .toSorted(([left], [right]) => left - right)
    .map(([above, amounts]) => {
      const cached = amounts.get('cache_read_input_token_cost')
      const write = amounts.get('cache_creation_input_token_cost')
      return {
        above_tokens: above,
        input_usd_per_1m: amounts.get('input_cost_per_token') ?? base.input,
        ...(cached === undefined ? {} : { cached_input_usd_per_1m: cached }),
        ...(write === undefined ? {} : { cache_write_usd_per_1m: write }),
        output_usd_per_1m: amounts.get('output_cost_per_token') ?? base.output,
      }
    })
}
