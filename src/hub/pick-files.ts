import { HubError } from './hub-error.ts'
import type { ModelFile } from './model-file.ts'

/** The files of a repository that an engine needs. */
export interface PickedFiles {
  readonly format: 'gguf' | 'safetensors'
  /** Weights come first, in the order of their parts. */
  readonly files: readonly ModelFile[]
  /** The files with weights. */
  readonly weights: readonly ModelFile[]
  /** The quantization of the GGUF files; null for safetensors, and if the file name does not contain one. */
  readonly quantization: string | null
}

/** `auto` takes the first quantization that exists: 4 bits for a good balance, then 5 to 8 bits, 3 bits, and unquantized. */
const GGUF_PREFERENCE = [
  'Q4_K_M',
  'Q4_K_S',
  'Q4_K_L',
  'IQ4_XS',
  'IQ4_NL',
  'Q4_0',
  'Q4_1',
  'Q5_K_M',
  'Q5_K_S',
  'Q5_0',
  'Q6_K',
  'Q8_0',
  'Q3_K_M',
  'BF16',
  'F16',
  'F32',
]
const QUANTIZATION =
  /(?:^|[.\-_/])((?:I?Q[1-8]|TQ[12]|MXFP4|BF16|F16|F32)(?:_[A-Z0-9]{1,4}){0,3})(?=$|[.\-/])/i
/** A quantization in a request. Upper case only: `bf16` in lower case means safetensors. */
const GGUF_NAME = /^(?:I?Q[1-8]|BF16|F16|F32|TQ[12]|MXFP4)(?:_[A-Z0-9]{1,4}){0,3}$/
const PART = /-(\d{5})-of-(\d{5})\.gguf$/i
/** GGUF files that are not the weights of the model: image projectors, draft models and importance matrices. */
const SIDE_FILE = /(?:^|\/)(?:mmproj|imatrix|draft)|-(?:mmproj|imatrix|draft)[.-]/i
const SAFETENSORS_NAME = /^model[^/]*\.safetensors$/
const SIDE_NAMES = new Set([
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'tokenizer.model',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'vocab.txt',
  'merges.txt',
  'chat_template.jinja',
  'chat_template.json',
  'preprocessor_config.json',
  'processor_config.json',
  'video_preprocessor_config.json',
  'quantize_config.json',
  'quantization_config.json',
  'params.json',
  'tekken.json',
  'modules.json',
  'sentence_bert_config.json',
  'config_sentence_transformers.json',
  '1_Pooling/config.json',
  'model.safetensors.index.json',
])

/** Returns whether the text is a quantization of GGUF files, such as `Q4_K_M`. */
export function isGgufQuantization(text: string): boolean {
  return GGUF_NAME.test(text)
}

/**
 * Returns the safetensors files, or the GGUF files of one quantization if there are no safetensors or the request names a GGUF
 * quantization. Never returns pickled weights.
 */
export function pickFiles(files: readonly ModelFile[], quantization: string): PickedFiles {
  const isGgufWanted = isGgufQuantization(quantization)
  const ggufs = files.filter(({ path }) => /\.gguf$/i.test(path) && !SIDE_FILE.test(path))
  const weights = files.filter(({ path }) => SAFETENSORS_NAME.test(path))
  if (ggufs.length > 0 && (weights.length === 0 || isGgufWanted)) return pickGguf(ggufs, quantization)
  if (weights.length === 0)
    throw new HubError('unreadable', 'The repository has no safetensors and no GGUF files.')
  const side = files.filter(({ path }) => SIDE_NAMES.has(path))
  return { format: 'safetensors', files: [...weights, ...side], weights, quantization: null }
}

/** Returns the quantization in the name of a GGUF file, or null. */
function quantizationOf(path: string): string | null {
  return QUANTIZATION.exec(path.replace(PART, '').replace(/\.gguf$/i, ''))?.[1]?.toUpperCase() ?? null
}

function pickGguf(ggufs: readonly ModelFile[], wanted: string): PickedFiles {
  const models = new Map<string, ModelFile[]>()
  for (const file of ggufs) {
    const name = file.path.replace(PART, '')
    models.set(name, [...(models.get(name) ?? []), file])
  }
  const choices = [...models.values()].map((parts) => {
    const weights = parts.toSorted((one, other) => (one.path < other.path ? -1 : 1))
    return { weights, quantization: quantizationOf(weights[0]?.path ?? '') }
  })
  const choice = choose(choices, wanted.toUpperCase())
  checkParts(choice.weights)
  return { format: 'gguf', files: choice.weights, ...choice }
}

interface Choice {
  readonly weights: readonly ModelFile[]
  readonly quantization: string | null
}

function choose(choices: readonly Choice[], wanted: string): Choice {
  const named = choices.find(({ quantization }) => quantization === wanted)
  if (named !== undefined) return named
  const names = choices.map(({ quantization }) => quantization ?? 'unnamed')
  if (wanted !== 'AUTO')
    throw new HubError(
      'unreadable',
      `The repository has no GGUF file in ${wanted}. It has ${names.slice(0, 20).join(', ')}.`,
    )
  for (const preferred of GGUF_PREFERENCE) {
    const found = choices.find(({ quantization }) => quantization === preferred)
    if (found !== undefined) return found
  }
  const smallest = choices.toSorted((one, other) => bytesOf(one) - bytesOf(other))[0]
  if (smallest === undefined) throw new HubError('unreadable', 'The repository has no GGUF files.')
  return smallest
}

function bytesOf({ weights }: Choice): number {
  return weights.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}

/** Throws if a part of a split model is missing. */
function checkParts(weights: readonly ModelFile[]): void {
  const count = Number(PART.exec(weights[0]?.path ?? '')?.[2] ?? 1)
  const isWhole =
    weights.length === count &&
    weights.every(({ path }, index) => count === 1 || Number(PART.exec(path)?.[1]) === index + 1)
  if (!isWhole) throw new HubError('unreadable', 'The repository lacks a part of the model.')
}
