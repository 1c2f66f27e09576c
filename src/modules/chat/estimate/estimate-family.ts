import {
  OPENAI_VOCABULARY,
  OTHER_VOCABULARY,
  type TextVocabulary,
} from '../../../kernel/tokens/text-tokens.ts'
import type { ImageSize } from '../../../kernel/media/read-image-size.ts'

type PixelSize = Pick<ImageSize, 'width' | 'height'>

type ImageDetail = 'auto' | 'low' | 'high' | 'original' | null | undefined

/**
 * How a vendor counts tokens. Every number is an upper bound: the excess is held only while the request runs, but tokens above
 * the hold may remain unpaid.
 */
export interface TokenFamily extends TextVocabulary {
  /** Tokens that the chat template adds to every prompt: markers, a date, a system prompt of the vendor. */
  readonly hiddenTokens: number
  /** Tokens that are added if a request has tools or a response schema. */
  readonly toolTokens: number
  /** Tokens of one image. The size is null if it is unknown. */
  readonly imageTokens: (size: PixelSize | null, detail: ImageDetail) => number
}

/** Returns the family of a catalog model by its vendor. */
export function tokenFamilyOf(vendor: string, modelNames: readonly string[]): TokenFamily {
  const family = FAMILIES.get(vendor.toLowerCase()) ?? UNKNOWN_FAMILY
  return family === OPENAI && modelNames.some((name) => name.includes('4o-mini')) ? OPENAI_4O_MINI : family
}

/** The worst values of all families, for vendors that are not listed. */
const UNKNOWN_FAMILY: TokenFamily = {
  hiddenTokens: 1024,
  toolTokens: 1024,
  tokensPerEncodedToken: 2,
  tokensPerWideByte: 1,
  tokensPerDigit: 1,
  imageTokens: patchesOf(14, 16_640),
}

const OPENAI: TokenFamily = {
  ...OPENAI_VOCABULARY,
  hiddenTokens: 128,
  toolTokens: 256,
  imageTokens: openAiPatches,
}

/** Bills images with the token counts of a much more expensive model. */
const OPENAI_4O_MINI: TokenFamily = { ...OPENAI, imageTokens: dearTiles }

const ANTHROPIC: TokenFamily = {
  ...OTHER_VOCABULARY,
  // The newest vocabulary makes up to a third more tokens of the same text than the one before.
  tokensPerEncodedToken: 2,
  hiddenTokens: 128,
  toolTokens: 1024,
  imageTokens: patchesOf(27, 5120),
}

const GOOGLE: TokenFamily = {
  ...OTHER_VOCABULARY,
  hiddenTokens: 64,
  toolTokens: 256,
  imageTokens: googleTiles,
}

const XAI: TokenFamily = {
  ...OTHER_VOCABULARY,
  hiddenTokens: 1024,
  toolTokens: 1024,
  imageTokens: patchesOf(14, 2048),
}

const MISTRAL: TokenFamily = {
  ...OTHER_VOCABULARY,
  hiddenTokens: 768,
  toolTokens: 256,
  imageTokens: patchesOf(14, 4352),
}

/** Open-weight models, which use the chat template published with them. */
const OPEN_WEIGHTS: TokenFamily = {
  ...OTHER_VOCABULARY,
  hiddenTokens: 256,
  toolTokens: 768,
  imageTokens: patchesOf(14, 16_640),
}

const FAMILIES: ReadonlyMap<string, TokenFamily> = new Map([
  ['openai', OPENAI],
  ['anthropic', ANTHROPIC],
  ['google', GOOGLE],
  ['xai', XAI],
  ['mistral', MISTRAL],
  ['meta', OPEN_WEIGHTS],
  ['qwen', OPEN_WEIGHTS],
  ['alibaba', OPEN_WEIGHTS],
  ['deepseek', OPEN_WEIGHTS],
  ['moonshot', OPEN_WEIGHTS],
  ['z.ai', OPEN_WEIGHTS],
  ['minimax', OPEN_WEIGHTS],
])

/** One token per square patch of pixels, plus a row and a column for padding and line breaks. */
function patchesOf(patchPixels: number, tokensMax: number): TokenFamily['imageTokens'] {
  return (size) =>
    size === null
      ? tokensMax
      : Math.min((size.width / patchPixels + 2) * (size.height / patchPixels + 2), tokensMax)
}

const OPENAI_PATCH_PIXELS = 32
/** Small models count each patch more than twice but accept few patches. Large models accept many and count each 1.62 times. */
const OPENAI_PATCHES = { few: { max: 2500, tokens: 2.46 }, many: { max: 10_000, tokens: 1.62 } }
/** Maximum of models that count tiles: eight tiles of 170 and the base of 85. */
const OPENAI_TILED_TOKENS_MAX = 1445

// Models that count patches ignore `low`, so it does not lower the bound. `original` and the default may use many patches.
function openAiPatches(size: PixelSize | null, detail: ImageDetail): number {
  const { few, many } = OPENAI_PATCHES
  const patches = size === null ? Infinity : countSquares(size, OPENAI_PATCH_PIXELS)
  const tokens = Math.min(patches, few.max) * few.tokens
  if (detail === 'low' || detail === 'high') return Math.max(tokens, OPENAI_TILED_TOKENS_MAX)
  return Math.max(tokens, Math.min(patches, many.max) * many.tokens, OPENAI_TILED_TOKENS_MAX)
}

const DEAR_BASE_TOKENS = 2833
const DEAR_TILE_TOKENS = 5667
const DEAR_TILE_PIXELS = 512
const DEAR_TILES_MAX = 8

// The image is scaled to fit 2048 × 2048, then its shorter side to 768, then covered with tiles of 512 × 512.
function dearTiles(size: PixelSize | null, detail: ImageDetail): number {
  if (detail === 'low') return DEAR_BASE_TOKENS
  let tiles = DEAR_TILES_MAX
  if (size !== null) {
    const longer = Math.max(size.width, size.height)
    const shorter = Math.min(size.width, size.height)
    const scale = Math.min(1, 2048 / longer, 768 / shorter)
    const pixels = { width: longer * scale, height: shorter * scale }
    tiles = Math.min(countSquares(pixels, DEAR_TILE_PIXELS), DEAR_TILES_MAX)
  }
  return DEAR_BASE_TOKENS + tiles * DEAR_TILE_TOKENS
}

const GOOGLE_TOKENS_PER_TILE = 258
const GOOGLE_IMAGE_TOKENS_MAX = 8192
/** What newer models count for one image at the highest resolution, regardless of its size. */
const GOOGLE_IMAGE_TOKENS_MIN = 2240

function googleTiles(size: PixelSize | null): number {
  if (size === null) return GOOGLE_IMAGE_TOKENS_MAX
  const tilePixels = Math.min(Math.max(Math.floor(Math.min(size.width, size.height) / 1.5), 256), 768)
  const tokens = countSquares(size, tilePixels) * GOOGLE_TOKENS_PER_TILE
  return Math.min(Math.max(tokens, GOOGLE_IMAGE_TOKENS_MIN), GOOGLE_IMAGE_TOKENS_MAX)
}

function countSquares({ width, height }: PixelSize, squarePixels: number): number {
  return Math.ceil(width / squarePixels) * Math.ceil(height / squarePixels)
}
