import { startScriptedServer, type ScriptedReply, type ScriptedServer } from './scripted-server.ts'

/** Starts a local server for Google's `generateContent` and `streamGenerateContent?alt=sse`. */
export async function startGoogleServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer((request) =>
    request.path.includes(':streamGenerateContent')
      ? googleStream([
          googleChunk([{ text: 'Hello ' }], { finishReason: undefined }),
          googleChunk([{ text: 'there' }]),
        ])
      : googleContent([{ text: 'Hello there' }]),
  )
  return { ...server, baseUrl: `${server.baseUrl}/v1beta` }
}

const DEFAULT_USAGE = {
  promptTokenCount: 9,
  candidatesTokenCount: 4,
  totalTokenCount: 13,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
}

export type GooglePart = Record<string, unknown>

interface ChunkFields {
  finishReason?: string | undefined
  usageMetadata?: object | undefined
}

/** Returns the body of one answer, or of one stream event. */
export function googleChunk(parts: readonly GooglePart[], fields: ChunkFields = {}): Record<string, unknown> {
  const { finishReason, usageMetadata } = { finishReason: 'STOP', usageMetadata: DEFAULT_USAGE, ...fields }
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0, finishReason }],
    usageMetadata,
    modelVersion: 'gemini-2.5-pro',
    responseId: 'mAjOaPqkHNyJ1MkPqcvD0Ao',
  }
}

export function googleContent(parts: readonly GooglePart[], fields: ChunkFields = {}): ScriptedReply {
  return googleBody(googleChunk(parts, fields))
}

export function googleBody(body: object, status = 200): ScriptedReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    chunks: [JSON.stringify(body)],
  }
}

/** Google's answer if its safety filter refuses the prompt: no candidate at all. */
export function googleBlockedPrompt(blockReason: string): Record<string, unknown> {
  return { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }
}

export function googleStream(
  chunks: readonly object[],
  { ending = 'end' }: { ending?: ScriptedReply['ending'] } = {},
): ScriptedReply {
  return {
    headers: { 'content-type': 'text/event-stream' },
    chunks: chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`),
    ...(ending === undefined ? {} : { ending }),
  }
}

export function googleError(code: number, status: string, message: string, details: readonly object[] = []) {
  return googleBody({ error: { code, message, status, details } }, code)
}
