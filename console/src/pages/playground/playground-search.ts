/** The parameters of the playground, as they are in the address. */
export interface PlaygroundSearch {
  readonly kind?: string | undefined
  readonly model?: string | undefined
  readonly system?: string | undefined
  /** A second model that answers beside the first. */
  readonly beside?: string | undefined
  /** The id of a saved prompt or conversation that is opened. */
  readonly saved?: string | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
  readonly max_tokens?: number | undefined
  readonly effort?: string | undefined
  /** JSON of a list of tools. */
  readonly tools?: string | undefined
  /** JSON of a schema that the answer must match. */
  readonly schema?: string | undefined
  /** What was entered into the form of a model that is not for chat. */
  readonly form?: Readonly<Record<string, string>> | undefined
}

const TEXTS = ['kind', 'model', 'beside', 'saved', 'system', 'effort', 'tools', 'schema'] as const
const NUMBERS = ['temperature', 'top_p', 'max_tokens'] as const
const TEXT_LENGTH_MAX = 20_000

export function readPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const texts = TEXTS.flatMap((name) => {
    const value = search[name]
    // The router reads JSON in the address as what it means.
    const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
    return text === '' || text.length > TEXT_LENGTH_MAX ? [] : [[name, text]]
  })
  const numbers = NUMBERS.flatMap((name) => {
    const value = search[name]
    return typeof value === 'number' && Number.isFinite(value) ? [[name, value]] : []
  })
  const form = readForm(search['form'])
  return { ...Object.fromEntries([...texts, ...numbers]), ...(form && { form }) }
}

function readForm(value: unknown): Record<string, string> | null {
  if (typeof value !== 'object' || value === null) return null
  const entries = Object.entries(value).flatMap(([name, text]) =>
    typeof text === 'string' && text.length <= TEXT_LENGTH_MAX ? [[name, text]] : [],
  )
  return entries.length === 0 ? null : Object.fromEntries(entries)
}
