import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'

import { readString } from '../exchange/read-json.ts'

/**
 * Both vendors sign the model's thinking and require it unchanged in the next turn. OpenAI's wire has no member for a signature,
 * so it is sent in the extra member that clients of these vendors already return.
 */
export interface ReasoningDetail {
  type: 'reasoning.text' | 'reasoning.encrypted'
  text?: string
  signature?: string
  data?: string
  format: 'anthropic-claude-v1'
}

export function readReasoningDetail(
  text: string,
  metadata: SharedV4ProviderMetadata | undefined,
): ReasoningDetail[] {
  const signature = readString(metadata, 'anthropic', 'signature')
  if (signature !== undefined)
    return [{ type: 'reasoning.text', text, signature, format: 'anthropic-claude-v1' }]
  const data = readString(metadata, 'anthropic', 'redactedData')
  return data === undefined ? [] : [{ type: 'reasoning.encrypted', data, format: 'anthropic-claude-v1' }]
}

/** Returns the value of `extra_content`, as in Google's own OpenAI-compatible API. */
export function readThoughtMark(
  metadata: SharedV4ProviderMetadata | undefined,
): { google: { thought_signature: string } } | undefined {
  const signature = readString(metadata, 'google', 'thoughtSignature')
  return signature === undefined ? undefined : { google: { thought_signature: signature } }
}
