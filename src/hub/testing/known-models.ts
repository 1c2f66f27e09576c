import type { KnownModel } from './known-model.ts'
import { LLAMA_MODELS } from './llama-models.ts'
import { OTHER_MODELS } from './other-models.ts'
import { QWEN_MODELS } from './qwen-models.ts'

export const KNOWN_MODELS: readonly KnownModel[] = [...LLAMA_MODELS, ...QWEN_MODELS, ...OTHER_MODELS]
