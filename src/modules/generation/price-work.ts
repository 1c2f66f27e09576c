import type { NanoUsd } from '../../kernel/money.ts'
import { chooseResolution, readShape } from '../../providers/frame-shape.ts'
import type { MediaWork } from '../../providers/media-work.ts'
import { countSpeechCharacters } from '../../providers/speech-instructions.ts'
import { priceUnits, unitRate, type CatalogModel, type UnitPrice, type UnitRate } from '../catalog/catalog.ts'

/** The price of one piece of work, fixed when it is asked for: a change of the catalog does not reach work under way. */
export interface WorkPrice {
  readonly unit: UnitPrice['unit']
  readonly rate: UnitRate
}

/** What was made of the work. */
export interface MadeOutput {
  readonly files: number
  /** Of video or audio, where it is known. */
  readonly seconds?: number | undefined
}

export function priceOfWork(model: CatalogModel, work: MediaWork<unknown>): WorkPrice {
  const { price } = model
  if (price.unit === 'token') throw new Error(`'${model.id}' is priced by the token`)
  return { unit: price.unit, rate: unitRate(price, traitsOf(model, price, work)) }
}

/** The most it can cost. */
export function estimateWork(price: WorkPrice, work: MediaWork<unknown>): NanoUsd {
  return priceUnits(price.rate, unitsAsked(price, work))
}

/** What it did cost: for what was made, which may be more than was asked. Nothing made costs nothing. */
export function priceOutput(price: WorkPrice, work: MediaWork<unknown>, made: MadeOutput): NanoUsd {
  if (made.files === 0) return 0n
  return priceUnits(price.rate, unitsMade(price, unitsAsked(price, work), made))
}

/** A vendor that tells more is wrong: the longest that can be asked for is a few minutes. */
const SECONDS_MADE_MAX = 3_600

function unitsMade({ unit }: WorkPrice, asked: number, { files, seconds }: MadeOutput): number {
  if (unit === 'image') return files
  const isMeasured = unit === 'second' && seconds !== undefined && Number.isFinite(seconds) && seconds >= 0
  if (!isMeasured) return asked
  // Films end with a frame: 5.04 seconds are the five that were asked for, and six are six.
  return seconds <= asked ? seconds : Math.max(asked, Math.min(Math.floor(seconds), SECONDS_MADE_MAX))
}

function unitsAsked({ unit }: WorkPrice, work: MediaWork<unknown>): number {
  switch (unit) {
    case 'image':
      return work.kind === 'image' ? work.count : 1
    case 'second':
      return secondsAsked(work)
    case 'character':
      return work.kind === 'speech' ? countSpeechCharacters(work) : countCharacters(work)
    case 'search':
    case 'request':
      return 1
  }
}

/** Slow speech has about five characters a second; nobody speaks slower than two. */
const SPOKEN_CHARACTERS_PER_SECOND_MIN = 2

function secondsAsked(work: MediaWork<unknown>): number {
  if (work.kind === 'video' || work.kind === 'music') return work.durationSeconds
  if (work.kind === 'speech')
    return Math.ceil(1 + countCharacters(work) / (SPOKEN_CHARACTERS_PER_SECOND_MIN * work.speed))
  return 1
}

/** Code points: an emoji of two code units is one. */
export function countCharacters(work: MediaWork<unknown>): number {
  if (work.kind === 'speech') return Array.from(work.input).length
  return 'prompt' in work && work.prompt !== null ? Array.from(work.prompt).length : 0
}

function traitsOf(
  { bounds }: CatalogModel,
  { multipliers }: UnitPrice,
  work: MediaWork<unknown>,
): Parameters<typeof unitRate>[1] {
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

/** A size whose price is not named counts by its longer side, as vendors do that sell `2K` and `4K`. */
function nameSize(size: string | null, named: ReadonlyMap<string, unknown> | undefined): string {
  if (size === null) return 'auto'
  const shape = readShape(size)
  if (shape === null || named?.has(size) === true) return size
  const longest = Math.max(shape.width, shape.height)
  if (longest < 2048) return '1K'
  return longest < 4096 ? '2K' : '4K'
}
