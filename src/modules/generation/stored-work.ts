import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { AUDIO_FORMATS, type MediaWork } from '../../providers/media/media-work.ts'
import { orNull } from '../../wires/nullable.ts'
import { PRICE_UNITS } from '../catalog/catalog.ts'
import type { WorkPrice } from './price-work.ts'

/** The stored form of a task: plain JSON, validated when it is read because another version may have written it. */
const Text = Type.String()
const File = Type.Object({ mediaId: Text })

const StoredMediaWork = Type.Union([
  Type.Object({
    kind: Type.Literal('image'),
    prompt: Text,
    count: Type.Integer(),
    size: orNull(Text),
    aspectRatio: orNull(Text),
    quality: orNull(Text),
    style: orNull(Text),
    background: orNull(Type.Enum(['transparent', 'opaque', 'auto'])),
    outputFormat: orNull(Type.Enum(['png', 'jpeg', 'webp'])),
    seed: orNull(Type.Integer()),
    images: Type.Array(File),
    mask: orNull(File),
    extra: Type.Record(Text, Type.Unknown()),
  }),
  Type.Object({
    kind: Type.Literal('upscale'),
    image: File,
    scale: Type.Union([Type.Literal(2), Type.Literal(4)]),
    prompt: orNull(Text),
  }),
  Type.Object({
    kind: Type.Literal('bg_remove'),
    image: File,
    outputFormat: Type.Enum(['png', 'webp']),
  }),
  Type.Object({
    kind: Type.Literal('video'),
    prompt: Text,
    image: orNull(File),
    durationSeconds: Type.Number(),
    aspectRatio: orNull(Text),
    resolution: orNull(Text),
    seed: orNull(Type.Integer()),
    negativePrompt: orNull(Text),
    withAudio: orNull(Type.Boolean()),
  }),
  Type.Object({
    kind: Type.Literal('music'),
    prompt: Text,
    lyrics: orNull(Text),
    isInstrumental: Type.Boolean(),
    durationSeconds: Type.Number(),
    outputFormat: Type.Enum(['mp3', 'wav']),
  }),
  Type.Object({
    kind: Type.Literal('speech'),
    input: Text,
    voice: Text,
    format: Type.Enum([...AUDIO_FORMATS]),
    speed: Type.Number(),
    instructions: orNull(Text),
    language: orNull(Text),
  }),
])

const Stored = Type.Object({
  work: StoredMediaWork,
  price: Type.Object({
    unit: Type.Enum(PRICE_UNITS.filter((unit) => unit !== 'token')),
    rate: Type.String({ pattern: '^\\d{1,60}$' }),
    // Absent in tasks of versions that did not bill input images.
    inputImageNanoUsd: Type.Optional(Type.String({ pattern: '^\\d{1,18}$' })),
    // Absent in tasks of versions whose price lists had none.
    version: Type.Optional(orNull(Text)),
    traits: Type.Optional(Text),
    costs: Type.Optional(
      Type.Array(Type.Object({ provider: Text, model: Text, version: Text, rates: Type.Unknown() })),
    ),
  }),
})

/** A client's file in the media store. */
export type FileReference = Static<typeof File>

export interface StoredWork {
  readonly work: MediaWork<FileReference>
  readonly price: WorkPrice
}

const validator = Compile(Stored)

export function writeStoredWork({ work, price }: StoredWork): unknown {
  return {
    work,
    price: {
      unit: price.unit,
      rate: price.rate.toString(),
      inputImageNanoUsd: price.nanoUsdPerInputImage.toString(),
      version: price.version,
      traits: price.traits,
      ...(price.costs.length === 0 ? {} : { costs: price.costs }),
    },
  }
}

export function readStoredWork(value: unknown): StoredWork {
  if (!validator.Check(value)) throw new Error('a task is stored with work that this version does not know')
  const { unit, rate, inputImageNanoUsd = '0', version = null, traits = '', costs = [] } = value.price
  return {
    work: value.work,
    price: {
      unit,
      rate: BigInt(rate),
      nanoUsdPerInputImage: BigInt(inputImageNanoUsd),
      version,
      traits,
      costs,
    },
  }
}
