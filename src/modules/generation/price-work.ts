import type { NanoUsd } from '../../kernel/money.ts'
import { chooseResolution, readShape } from '../../providers/streams/frame-shape.ts'
import type { MediaWork } from '../../providers/media/media-work.ts'
import { countSpeechCharacters } from '../../providers/media/speech-instructions.ts'
import {
  COUNTED_NOTHING,
  countUnits,
  packTraits,
  toStoredPrice,
  priceUnits,
  unitRate,
  type CatalogModel,
  type Counted,
  type ModelPrice,
  type PriceTraits,
  type UnitPrice,
  type UnitRate,
} from '../catalog/catalog.ts'

/** The price of one request, fixed when it arrives: a later change of the catalog does not affect it. */
export interface WorkPrice {
  readonly unit: UnitPrice['unit']
  readonly rate: UnitRate
  /** The price of one input image, for each output that is made of it. */
  readonly nanoUsdPerInputImage: NanoUsd
  /** The version of the price list. Null for a model without one. */
  readonly version: string | null
  /** What of the request has a price of its own, packed. */
  readonly traits: Counted
  /** What the routes cost, as far as it is known. */
  readonly costs: readonly WorkCost[]
}

/** What the vendor charges, on one route. */
interface WorkCost {
  readonly provider: string
  readonly model: string
  readonly version: string
  /** As for `fromStoredPrice`. */
  readonly rates: unknown
}

/** What the work produced. */
export interface MadeOutput {
  readonly files: number
  /** The duration of video or audio, if known. */
  readonly seconds?: number | undefined
}

export function priceOfWork(model: CatalogModel, work: MediaWork<unknown>): WorkPrice {
  const { price } = model
  if (price.unit === 'token') throw new Error(`'${model.id}' is priced by the token`)
  const traits = traitsOf(model, price, work)
  return {
    unit: price.unit,
    rate: unitRate(price, traits),
    nanoUsdPerInputImage: price.nanoUsdPerInputImage ?? 0n,
    version: model.priceVersion ?? null,
    traits: packTraits([price, ...model.routes.flatMap(({ cost }) => unitPriceOf(cost?.price))], traits),
    costs: model.routes.flatMap(({ provider, model: upstreamModel, cost }) =>
      cost === undefined
        ? []
        : [{ provider, model: upstreamModel, version: cost.version, rates: toStoredPrice(cost.price) }],
    ),
  }
}

function unitPriceOf(price: ModelPrice | undefined): readonly UnitPrice[] {
  return price === undefined || price.unit === 'token' ? [] : [price]
}

/** Returns the maximum cost of what was requested. */
export function estimateWork(price: WorkPrice, work: MediaWork<unknown>): NanoUsd {
  return priceUnits(price.rate, unitsAsked(price, work)) + priceInputImages(price, work, outputsAsked(work))
}

/** Returns the cost of the output, which may be more than was requested. No output costs nothing. */
export function priceOutput(price: WorkPrice, work: MediaWork<unknown>, made: MadeOutput): NanoUsd {
  if (made.files === 0) return 0n
  // One call may return several drafts of an image. Its input images are billed once.
  const outputs = Math.min(made.files, outputsAsked(work))
  return (
    priceUnits(price.rate, unitsMade(price, unitsAsked(price, work), made)) +
    priceInputImages(price, work, outputs)
  )
}

/** What `estimateWork` counts. */
export function countEstimate(price: WorkPrice, work: MediaWork<unknown>): Counted {
  return countUnits(unitsAsked(price, work), countInputImages(work) * outputsAsked(work), price.traits)
}

/** What `priceOutput` counts. */
export function countOutput(price: WorkPrice, work: MediaWork<unknown>, made: MadeOutput): Counted {
  if (made.files === 0) return COUNTED_NOTHING
  const outputs = Math.min(made.files, outputsAsked(work))
  const units = unitsMade(price, unitsAsked(price, work), made)
  return countUnits(units, countInputImages(work) * outputs, price.traits)
}

/** Vendors bill the input images again for each output: they count several outputs as several calls. */
function priceInputImages(
  { nanoUsdPerInputImage }: WorkPrice,
  work: MediaWork<unknown>,
  outputs: number,
): NanoUsd {
  return nanoUsdPerInputImage * BigInt(countInputImages(work) * outputs)
}

function countInputImages(work: MediaWork<unknown>): number {
  if (work.kind === 'image') return work.images.length + (work.mask === null ? 0 : 1)
  if (work.kind === 'video') return work.image === null ? 0 : 1
  return work.kind === 'upscale' || work.kind === 'bg_remove' ? 1 : 0
}

function outputsAsked(work: MediaWork<unknown>): number {
  return work.kind === 'image' ? work.count : 1
}

/** The limit on durations that a vendor reports. Requests are limited to a few minutes, so a longer one is wrong. */
const SECONDS_MADE_MAX = 3_600

function unitsMade({ unit }: WorkPrice, asked: number, { files, seconds }: MadeOutput): number {
  if (unit === 'image') return files
  const isMeasured = unit === 'second' && seconds !== undefined && Number.isFinite(seconds) && seconds >= 0
  if (!isMeasured) return asked
  // Videos end at a frame boundary: 5.04 seconds count as the requested 5, but 6 seconds count as 6.
  return seconds <= asked ? seconds : Math.max(asked, Math.min(Math.floor(seconds), SECONDS_MADE_MAX))
}

function unitsAsked({ unit }: WorkPrice, work: MediaWork<unknown>): number {
  switch (unit) {
    case 'image':
      return outputsAsked(work)
    case 'second':
      return secondsAsked(work)
    case 'character':
      return work.kind === 'speech' ? countSpeechCharacters(work) : countCharacters(work)
    case 'search':
    case 'request':
      return 1
  }
}

/** Slow speech has about five characters per second. Two is below any real speech. */
const SPOKEN_CHARACTERS_PER_SECOND_MIN = 2

function secondsAsked(work: MediaWork<unknown>): number {
  if (work.kind === 'video' || work.kind === 'music') return work.durationSeconds
  if (work.kind === 'speech')
    return Math.ceil(1 + countCharacters(work) / (SPOKEN_CHARACTERS_PER_SECOND_MIN * work.speed))
  return 1
}

/** Counts code points: an emoji of two code units counts as one. */
export function countCharacters(work: MediaWork<unknown>): number {
  if (work.kind === 'speech') return Array.from(work.input).length
  return 'prompt' in work && work.prompt !== null ? Array.from(work.prompt).length : 0
}

function traitsOf(
  { bounds }: CatalogModel,
  { multipliers }: UnitPrice,
  work: MediaWork<unknown>,
): PriceTraits {
  if (work.kind === 'image') return { size: nameSize(work.size, multipliers?.size), quality: work.quality }
  if (work.kind === 'upscale') return { size: `${work.scale}x` }
  if (work.kind !== 'video') return {}
  const { resolution, withAudio, durationSeconds } = work
  return {
    resolution: chooseResolution(resolution, bounds.resolutions ?? []) ?? resolution,
    duration: String(durationSeconds),
    ...(withAudio === null ? {} : { audio: withAudio ? 'on' : 'off' }),
  }
}

/**
 * Returns the price tier of a size. A size without its own price is priced by its longer side, like vendors that sell `2K` and
 * `4K`.
 */
function nameSize(size: string | null, named: ReadonlyMap<string, unknown> | undefined): string {
  if (size === null) return 'auto'
  const shape = readShape(size)
  if (shape === null || named?.has(size) === true) return size
  const longest = Math.max(shape.width, shape.height)
  if (longest < 2048) return '1K'
  return longest < 4096 ? '2K' : '4K'
}
