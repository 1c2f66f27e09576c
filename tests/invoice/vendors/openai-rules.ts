import { readFile, type FileFacts } from '../files/read-file.ts'
import type { Extra } from './invoice-line.ts'
import type { PromptCounts } from './perform-work.ts'
import { countPatches, countTiles } from './picture-tokens.ts'
import { countTokens } from './tokens.ts'
import { Refused, type VendorCall } from './vendor-server.ts'
import { readDataUrl } from './read-members.ts'

/** A model in OpenAI's list. */
export interface OpenAiModel {
  readonly contextTokens: number
  readonly outputMax: number
  readonly isThinking: boolean
  readonly picture: (size: { width: number; height: number }, detail: unknown) => number
  /** Whether writing to its cache has a price. */
  readonly hasCacheWrites?: true
}

/** Tiles of 512 pixels: a base, and so many tokens a tile. `low` costs the base. */
const tiled =
  (base: number, perTile: number): OpenAiModel['picture'] =>
  (size, detail) =>
    detail === 'low' ? base : base + countTiles(size) * perTile
/** Patches of 32 pixels up to a limit, counted with the factor of the model. */
const patched =
  (max: number, factor: number): OpenAiModel['picture'] =>
  (size) =>
    Math.ceil(countPatches(size, 32, max) * factor)

const OPENAI_MODELS: Readonly<Record<string, OpenAiModel>> = {
  'gpt-4o-mini': { contextTokens: 128_000, outputMax: 16_384, isThinking: false, picture: tiled(2833, 5667) },
  'gpt-4o': { contextTokens: 128_000, outputMax: 16_384, isThinking: false, picture: tiled(85, 170) },
  'gpt-4.1': { contextTokens: 1_047_576, outputMax: 32_768, isThinking: false, picture: tiled(85, 170) },
  'gpt-4.1-mini': {
    contextTokens: 1_047_576,
    outputMax: 32_768,
    isThinking: false,
    picture: patched(1_536, 1.62),
  },
  'gpt-5.4': { contextTokens: 1_050_000, outputMax: 128_000, isThinking: true, picture: patched(10_000, 1) },
  'gpt-5.4-nano': {
    contextTokens: 400_000,
    outputMax: 128_000,
    isThinking: true,
    picture: patched(1_536, 2.46),
  },
  'gpt-5.6-luna': {
    contextTokens: 1_050_000,
    outputMax: 128_000,
    isThinking: true,
    picture: patched(10_000, 1),
    hasCacheWrites: true,
  },
  'gpt-audio': { contextTokens: 128_000, outputMax: 16_384, isThinking: false, picture: tiled(85, 170) },
}

export function openAiModelOf(name: string): OpenAiModel {
  const model = OPENAI_MODELS[name]
  if (model === undefined) throw new Refused(`The model ${name} does not exist`, 404)
  return model
}

const AUDIO_TOKENS_PER_SECOND = 10
const PDF_PAGES_MAX = 100
/** A page of a letter at twice its points. */
const PAGE = { width: 1224, height: 1584 }

export interface Counted {
  tokens: number
  audioTokens: number
}

/** A picture must be a picture. */
export function countPicture(counted: Counted, facts: FileFacts, model: OpenAiModel, detail: unknown): void {
  if (facts.is !== 'picture') throw new Refused('You uploaded an unsupported image.')
  counted.tokens += model.picture(facts, detail)
}

/** A PDF is billed for the words and the picture of every page, other files for their text. */
export function countDocument(counted: Counted, facts: FileFacts, model: OpenAiModel): void {
  if (facts.is === 'pdf') {
    if (facts.pages > PDF_PAGES_MAX) throw new Refused(`The file has more than ${PDF_PAGES_MAX} pages.`)
    counted.tokens += countTokens(facts.text) + facts.pages * model.picture(PAGE, 'high')
  } else if (facts.is === 'text') counted.tokens += countTokens(facts.text)
  else throw new Refused('Expected a document.')
}

export function countAudio(counted: Counted, facts: FileFacts): void {
  if (facts.is !== 'audio') throw new Refused('The audio could not be decoded.')
  const tokens = Math.ceil(facts.seconds * AUDIO_TOKENS_PER_SECOND)
  counted.tokens += tokens
  counted.audioTokens += tokens
}

/** Reads what a data URL or an address holds. */
export function fetchFile(call: VendorCall, url: string): FileFacts {
  const bytes = readDataUrl(url)?.bytes ?? call.vendor.files.find(url)
  if (bytes === null) throw new Refused(`Failed to download ${url.slice(0, 80)}`)
  return readFile(bytes)
}

const CACHE_TOKENS_MIN = 1_024
const CACHE_STEP_TOKENS = 128

/** Prompts from 1,024 tokens are cached in steps of 128. */
export function countPrompt(
  call: VendorCall,
  model: OpenAiModel,
  { tokens, audioTokens }: Counted,
): PromptCounts {
  if (tokens > model.contextTokens) throw new Refused('The input exceeds the context window of this model.')
  const text = tokens - audioTokens
  const steps = text < CACHE_TOKENS_MIN ? 0 : Math.floor(text / CACHE_STEP_TOKENS)
  const cachedTokens = Math.floor(steps * call.planned.plan.cachedShare) * CACHE_STEP_TOKENS
  const cacheWriteTokens = steps * CACHE_STEP_TOKENS - cachedTokens
  return {
    promptTokens: tokens,
    cachedTokens,
    ...(model.hasCacheWrites ? { cacheWriteTokens } : {}),
    ...(audioTokens > 0 ? { audioPromptTokens: audioTokens } : {}),
  }
}

/** Priority costs twice as much. */
export function tierFactor(tier: unknown): number {
  return tier === 'priority' || tier === 'fast' ? 2 : 1
}

/** Dollars a call, from the price list. */
const HOSTED_TOOLS: Readonly<Record<string, number>> = {
  web_search: 0.01,
  web_search_preview: 0.025,
  file_search: 0.0025,
  code_interpreter: 0.03,
  shell: 0.03,
  image_generation: 0.04,
  mcp: 0.01,
}

export function hostedTool(call: VendorCall, type: unknown): Extra[] {
  const usd = HOSTED_TOOLS[String(type).replace(/_\d{4}_\d{2}_\d{2}$/, '')]
  return usd === undefined ? [] : [{ what: String(type), usd: usd * call.planned.plan.hostedCalls }]
}
