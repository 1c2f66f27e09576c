import { vendorOf } from './vendors.ts'

/** How public price lists name vendors, where they do not use our ids. */
const LITELLM: ReadonlyMap<string, string> = new Map([
  ['text-completion-openai', 'openai'],
  ['gemini', 'google'],
  ['codestral', 'mistral'],
  ['together_ai', 'together'],
  ['fireworks_ai', 'fireworks'],
  ['fireworks_ai-embedding-models', 'fireworks'],
  ['cohere_chat', 'cohere'],
])

const MODELS_DEV: ReadonlyMap<string, string> = new Map([
  ['moonshotai', 'moonshot'],
  ['togetherai', 'together'],
  ['fireworks-ai', 'fireworks'],
  ['alibaba', 'dashscope'],
])

/** Returns our id of a vendor that LiteLLM's list names, or null if it is none of ours. */
export function vendorNamedByLitellm(name: string): string | null {
  return LITELLM.get(name) ?? vendorOf(name)?.id ?? null
}

/** The same for the list of models.dev. */
export function vendorNamedByModelsDev(name: string): string | null {
  return MODELS_DEV.get(name) ?? vendorOf(name)?.id ?? null
}
