import type { ClaudeOnCloud } from '../claude-request.ts'

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude */
export const CLAUDE_ON_VERTEX: ClaudeOnCloud = { version: 'vertex-2023-10-16' }

/** Whether Anthropic publishes the model. */
export function isClaude(upstreamModel: string): boolean {
  return upstreamModel.startsWith('claude-')
}

/** Models of other publishers have the publisher in their name. They are served over OpenAI's wire. */
export function isOfPublisher(upstreamModel: string): boolean {
  return upstreamModel.includes('/')
}

export function pathOfClaude(upstreamModel: string, isStream: boolean): string {
  const operation = isStream ? 'streamRawPredict' : 'rawPredict'
  return `/publishers/anthropic/models/${writeModel(upstreamModel)}:${operation}`
}

export function pathOfEmbedding(upstreamModel: string): string {
  return `/publishers/google/models/${writeModel(upstreamModel)}:predict`
}

/** A version follows an `@`, which stays as it is. */
function writeModel(upstreamModel: string): string {
  return encodeURIComponent(upstreamModel).replaceAll('%40', '@')
}
