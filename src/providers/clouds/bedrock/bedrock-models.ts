import type { ClaudeOnCloud } from '../claude-request.ts'

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html */
export const CLAUDE_ON_BEDROCK: ClaudeOnCloud = {
  version: 'bedrock-2023-05-31',
  hasFeaturesInBody: true,
  hasStreamInPath: true,
}

/** Say what an inference profile of one's own leads to, because its ARN does not. */
const CLAUDE_PREFIX = 'anthropic/'
const OPENAI_PREFIX = 'openai/'

/** Whether a model is called by Anthropic's wire: its id or that of its inference profile says so, or the prefix of the route. */
export function isClaude(upstreamModel: string): boolean {
  return upstreamModel.startsWith(CLAUDE_PREFIX) || /(?:^|[./])anthropic\.claude/.test(upstreamModel)
}

/** Whether a model is called by OpenAI's wire. All others are called by Converse. */
export function isOpenAi(upstreamModel: string): boolean {
  return upstreamModel.startsWith(OPENAI_PREFIX) || /(?:^|[./])openai\./.test(upstreamModel)
}

/** Whether a model of Converse has prompt caches. Others refuse a request that marks what to keep. */
export function hasCachePoints(upstreamModel: string): boolean {
  return /(?:^|[./])amazon\.nova-/.test(upstreamModel)
}

/** Returns what a route writes before the ARN of a profile that leads to the model. */
export function prefixOf(upstreamModel: string): string {
  if (isClaude(upstreamModel)) return CLAUDE_PREFIX
  return isOpenAi(upstreamModel) ? OPENAI_PREFIX : ''
}

/** Returns the name that Bedrock knows. */
export function idOfModel(upstreamModel: string): string {
  const prefix = [CLAUDE_PREFIX, OPENAI_PREFIX].find((known) => upstreamModel.startsWith(known)) ?? ''
  return upstreamModel.slice(prefix.length)
}

/** Returns the path of a model's operation. An ARN has slashes and colons. */
export function pathOfModel(upstreamModel: string, operation: string): string {
  return `/model/${encodeURIComponent(idOfModel(upstreamModel))}/${operation}`
}
