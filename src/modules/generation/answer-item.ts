import type { AnswerItem } from './generation-request.ts'

/** Returns a result file as base64 in the response. */
export function inlineItem(bytes: Uint8Array, revisedPrompt: string | undefined): AnswerItem {
  const inline = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { b64_json: inline, ...describePrompt(revisedPrompt) }
}

/** Returns a result file as a URL. */
export function addressItem(url: string, revisedPrompt: string | undefined): AnswerItem {
  return { url, ...describePrompt(revisedPrompt) }
}

function describePrompt(revisedPrompt: string | undefined): { revised_prompt?: string } {
  return revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }
}
