import { json } from '../openai-server.ts'
import type { ScriptedReply } from '../scripted-server.ts'

export const REGION = 'eu-central-1'
export const ACCOUNT = '123456789012'
export const BEDROCK_STREAM = { 'content-type': 'application/vnd.amazon.eventstream' }

/** An error as Bedrock writes it. */
export function refuse(
  status: number,
  kind: string,
  message: string,
  headers: Record<string, string> = {},
): ScriptedReply {
  return json({ message }, status, { 'x-amzn-errortype': `${kind}:http://internal.amazon.com/`, ...headers })
}
