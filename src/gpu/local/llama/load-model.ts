import { availableParallelism } from 'node:os'
import {
  getLlama,
  resolveChatWrapper,
  type ChatWrapper,
  type Llama,
  type LlamaContext,
  type LlamaModel,
} from 'node-llama-cpp'
import type { EngineArguments } from './engine-arguments.ts'

/** A loaded model and the context for its requests. */
export interface LoadedModel {
  readonly llama: Llama
  readonly model: LlamaModel
  readonly context: LlamaContext
  readonly chatWrapper: ChatWrapper
  /** Maximum number of tokens of one request, prompt and answer together. */
  readonly contextSize: number
  readonly threads: number
}

const CONTEXT_SIZE_DEFAULT = 8_192
/** Models below this size use one thread, because several would spend more time synchronising than computing. */
const SMALL_MODEL_BYTES = 64 * 1024 * 1024

/** Loads the weights and allocates the cache for all concurrent requests. Downloads and builds nothing. */
export async function loadModel(
  { modelPath, contextSize, parallel, threads, usesGpu }: EngineArguments,
  say: (line: string) => void,
): Promise<LoadedModel> {
  const cores = threads ?? availableParallelism()
  const llama = await getLlama({
    gpu: usesGpu ? 'auto' : false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    maxThreads: cores,
    logger: (level, message) => say(`${level}: ${message.trimEnd()}`),
  })
  if (usesGpu && llama.gpu === false)
    say('no GPU build of llama.cpp is installed, or it found no GPU: the processor is used')
  const sizes = { contextSize: contextSize ?? CONTEXT_SIZE_DEFAULT }
  let told = 0
  const model = await llama.loadModel({
    modelPath,
    ...(llama.gpu === false ? {} : { gpuLayers: { fitContext: sizes } }),
    onLoadProgress: (share) => {
      const percent = Math.floor(share * 10) * 10
      if (percent > told) say(`loading ${percent} %`)
      told = Math.max(told, percent)
    },
  })
  const used = threads ?? (model.size < SMALL_MODEL_BYTES ? 1 : cores)
  const context = await model.createContext({
    contextSize: Math.min(sizes.contextSize, model.trainContextSize),
    sequences: parallel,
    threads: used,
  })
  const chatWrapper = resolveChatWrapper(model)
  return {
    llama,
    model,
    context,
    chatWrapper,
    // llama.cpp rounds the context size up.
    contextSize: Math.min(context.contextSize, sizes.contextSize),
    threads: used,
  }
}
