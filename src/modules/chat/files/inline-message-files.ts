import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { MessagesRequest } from '../../../wires/anthropic-messages/messages-request.ts'
import type { InferenceRequest } from '../../inference/inference.ts'
import {
  findFileUses,
  inlineFiles,
  type FileUse,
  type FindOptions,
  type InlinedUse,
  type OwnFiles,
} from '../../media/media.ts'

/** Finds references to files by their address in the blocks of messages. */
export function findFilesOfMessages(
  media: Pick<OwnFiles, 'ownIdOf'>,
  { messages }: MessagesRequest,
  options: FindOptions,
): InlinedUse[] {
  const uses: FileUse[] = []
  mapBlocks(messages, 'messages', (block, param) => {
    const url = addressOf(block)
    if (url !== null)
      uses.push({ url, kind: block['type'] === 'image' ? 'image' : null, param: `${param}.source.url` })
    return block
  })
  return uses.length === 0 ? [] : findFileUses(media, uses, options)
}

/** Returns the request with the files inlined, because an upstream may not be able to reach the gateway, or must not fetch addresses. */
export async function inlineFilesOfMessages(
  media: Pick<OwnFiles, 'openOwn' | 'fetchForeign'>,
  request: InferenceRequest<MessagesRequest>,
  uses: readonly InlinedUse[],
): Promise<InferenceRequest<MessagesRequest>> {
  const files = await inlineFiles(media, {
    place: request.caller,
    uses,
    cancellation: request.cancellation,
    countRead: request.countRead,
  })
  const messages = mapBlocks(request.body.messages, 'messages', (block) => {
    const file = files.get(addressOf(block) ?? '')
    if (file === undefined) return block
    return { ...block, source: { type: 'base64', media_type: file.contentType, data: file.base64 } }
  })
  const body = { ...request.body, messages }
  const edits = new Map([['messages', JSON.stringify(messages)]])
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

type Messages = MessagesRequest['messages']
type Change = (block: Record<string, unknown>, param: string) => Record<string, unknown>

/** Maps the blocks of messages, and those inside tool results. */
export function mapBlocks(messages: Messages, param: string, change: Change): Messages {
  return messages.map((message, index) => {
    if (!Array.isArray(message.content)) return message
    const content = message.content.map((block, place) => {
      const changed = change(block, `${param}.${index}.content.${place}`)
      const inner = changed['content']
      if (block.type !== 'tool_result' || !Array.isArray(inner)) return { ...block, ...changed }
      const results: unknown[] = inner.map((one: unknown, at) =>
        isRecord(one) ? change(one, `${param}.${index}.content.${place}.content.${at}`) : one,
      )
      return { ...block, content: results }
    })
    return { ...message, content }
  })
}

function addressOf({ source }: Record<string, unknown>): string | null {
  if (!isRecord(source) || source['type'] !== 'url') return null
  return typeof source['url'] === 'string' ? source['url'] : null
}
