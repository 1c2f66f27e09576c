import { Type, type TProperties } from 'typebox'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { BucketResult, Grouping, UsageTotals } from '../../../modules/usage/usage.ts'
import { orNull } from '../../../wires/nullable.ts'
import { listFilter, readFilter } from './list-filter.ts'

/** One of the routes of usage, for some operations. */
export interface UsageKind {
  readonly path: string
  readonly title: string
  readonly summary: string
  /** Parameters of its own. */
  readonly parameters: TProperties
  /** Returns the operations that a query is about. */
  readonly operationsOf: (sent: Readonly<Record<string, unknown>>) => readonly string[]
  /** What it can be grouped by besides. Null for what is the same for all requests. */
  readonly groupings: Readonly<Record<string, Grouping | null>>
  readonly members: TProperties
  readonly toWire: (totals: UsageTotals) => Record<string, unknown>
  readonly groupMembers: TProperties
  readonly groupToWire?: (result: BucketResult, groupBy: ReadonlySet<string>) => Record<string, unknown>
}

const Count = (description: string) => Type.Integer({ description })
const inputTokens = { input_tokens: Count('Tokens of the input.') }

const plain = (operations: readonly string[]) => ({
  parameters: {},
  groupings: {},
  groupMembers: {},
  operationsOf: () => operations,
})

const TEXT = ['chat', 'completion', 'messages', 'responses']

const COMPLETIONS: UsageKind = {
  path: 'completions',
  title: 'Completions',
  summary: 'Read usage of text models',
  parameters: {
    batch: Type.Optional(
      Type.Boolean({
        description: 'True: only batches, of which there are none here. False: everything else.',
      }),
    ),
  },
  operationsOf: ({ batch }) => (batch === true ? [] : TEXT),
  groupings: { batch: null, service_tier: null },
  members: {
    input_tokens: Count('Tokens of the input, cached ones included.'),
    input_cached_tokens: Count('The part of them that was read from a cache of the vendor.'),
    input_cache_write_tokens: Count('The part of them that was written to a cache of the vendor.'),
    input_uncached_tokens: Count('The rest of them.'),
    output_tokens: Count('Tokens of the output, reasoning included.'),
    input_audio_tokens: Count('Always 0: tokens of audio are not told apart.'),
    output_audio_tokens: Count('Always 0: tokens of audio are not told apart.'),
  },
  toWire: ({ promptTokens, cachedTokens, cacheWriteTokens, completionTokens }) => ({
    input_tokens: promptTokens,
    input_cached_tokens: cachedTokens,
    input_cache_write_tokens: cacheWriteTokens,
    input_uncached_tokens: promptTokens - cachedTokens - cacheWriteTokens,
    output_tokens: completionTokens,
    input_audio_tokens: 0,
    output_audio_tokens: 0,
  }),
  groupMembers: {
    batch: orNull(Type.Boolean(), 'False if grouped by `batch`.'),
    service_tier: orNull(Type.String(), 'Always null: tiers are not told apart.'),
  },
  groupToWire: (_, groupBy) => ({ batch: groupBy.has('batch') ? false : null, service_tier: null }),
}

/** The operations by the names of OpenAI's sources, and what else makes images. */
const IMAGE_SOURCES = lookupTable<readonly string[]>({
  'image.generation': ['image'],
  'image.edit': ['edit'],
  'image.variation': [],
})
const OTHER_IMAGES = ['upscale', 'bg_remove']
const SOURCE_OF = lookupTable({ image: 'image.generation', edit: 'image.edit' })

const sources = listFilter(
  Type.Enum(Object.keys(IMAGE_SOURCES)),
  'Only what was made this way. There are no variations here.',
)
const sizes = listFilter(Type.String({ maxLength: 32 }), 'Refused: sizes are not recorded.')

const IMAGES: UsageKind = {
  path: 'images',
  title: 'Images',
  summary: 'Read usage of image models',
  parameters: { sources, 'sources[]': sources, sizes, 'sizes[]': sizes },
  operationsOf: (sent) => {
    if (sent['sizes'] !== undefined || sent['sizes[]'] !== undefined)
      throw new AppError('unsupported_parameter', 'The sizes of images are not recorded.', { param: 'sizes' })
    const wanted = readFilter(textsOf(sent['sources']), textsOf(sent['sources[]']))
    if (wanted === null) return [...Object.values(IMAGE_SOURCES).flat(), ...OTHER_IMAGES]
    return wanted.flatMap((source) => {
      const operations = IMAGE_SOURCES[source]
      if (operations === undefined) throw invalidValue('sources', 'sources has an unknown source.')
      return operations
    })
  },
  groupings: { size: null, source: 'operation' },
  members: { images: Count('How many images were made.') },
  toWire: ({ units }) => ({ images: units }),
  groupMembers: {
    source: orNull(
      Type.String(),
      'If grouped by `source`. `upscale` and `bg_remove` are operations of this gateway.',
    ),
    size: orNull(Type.String(), 'Always null: sizes are not recorded.'),
  },
  groupToWire: ({ operation }) => ({
    source: operation === null ? null : (SOURCE_OF[operation] ?? operation),
    size: null,
  }),
}

function textsOf(value: unknown): string | readonly string[] | undefined {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}

export const USAGE_KINDS: readonly UsageKind[] = [
  COMPLETIONS,
  {
    ...plain(['embedding']),
    path: 'embeddings',
    title: 'Embeddings',
    summary: 'Read usage of embedding models',
    members: inputTokens,
    toWire: ({ promptTokens }) => ({ input_tokens: promptTokens }),
  },
  {
    ...plain(['moderation']),
    path: 'moderations',
    title: 'Moderations',
    summary: 'Read usage of moderation models',
    members: inputTokens,
    toWire: ({ promptTokens }) => ({ input_tokens: promptTokens }),
  },
  IMAGES,
  {
    ...plain(['tts']),
    path: 'audio_speeches',
    title: 'Speech',
    summary: 'Read usage of speech models',
    members: { characters: Count('Characters of the text.') },
    toWire: ({ units }) => ({ characters: units }),
  },
  {
    ...plain(['stt', 'translation']),
    path: 'audio_transcriptions',
    title: 'Transcriptions',
    summary: 'Read usage of transcription models',
    members: { seconds: Count('Seconds of audio.') },
    toWire: ({ units }) => ({ seconds: units }),
  },
]
