import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { ResponsesRequest } from '../../../wires/openai-responses/responses-request.ts'
import type { InferenceRequest } from '../../inference/inference.ts'
import {
  findFileUses,
  inlineFiles,
  type FileUse,
  type FindOptions,
  type InlinedUse,
  type OwnFiles,
} from '../../media/media.ts'

/** Finds references to files by their address in the items of a request. */
export function findFilesOfResponses(
  media: Pick<OwnFiles, 'ownIdOf'>,
  { input }: ResponsesRequest,
  options: FindOptions,
): InlinedUse[] {
  if (typeof input === 'string') return []
  const uses: FileUse[] = []
  mapParts(input, (part, param) => {
    const { image_url: image, file_url: file } = part
    if (typeof image === 'string') uses.push({ url: image, kind: 'image', param: `${param}.image_url` })
    if (typeof file === 'string') uses.push({ url: file, kind: null, param: `${param}.file_url` })
    return part
  })
  return uses.length === 0 ? [] : findFileUses(media, uses, options)
}

/** Returns the request with the files inlined, because an upstream may not be able to reach the gateway, or must not fetch addresses. */
export async function inlineFilesOfResponses(
  media: Pick<OwnFiles, 'openOwn' | 'fetchForeign'>,
  request: InferenceRequest<ResponsesRequest>,
  uses: readonly InlinedUse[],
): Promise<InferenceRequest<ResponsesRequest>> {
  if (typeof request.body.input === 'string') return request
  const files = await inlineFiles(media, {
    place: request.caller,
    uses,
    cancellation: request.cancellation,
    countRead: request.countRead,
  })
  const dataOf = (url: unknown): string | null => {
    const file = typeof url === 'string' ? files.get(url) : undefined
    return file === undefined ? null : `data:${file.contentType};base64,${file.base64}`
  }
  const input = mapParts(request.body.input, (part) => {
    const { file_url: url, ...rest } = part
    const image = dataOf(part['image_url'])
    if (image !== null) return { ...part, image_url: image }
    const file = dataOf(url)
    return file === null ? part : { filename: 'file', ...rest, file_data: file }
  })
  const body = { ...request.body, input }
  const edits = new Map([['input', JSON.stringify(input)]])
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

type Items = Exclude<ResponsesRequest['input'], string>
type Part = Record<string, unknown>

/** Maps the parts of messages and of tool results. */
export function mapParts(items: Items, change: (part: Part, param: string) => Part): Items {
  return items.map((item, index) => {
    const changed: Part = { ...item }
    for (const name of ['content', 'output']) {
      const parts = changed[name]
      if (!Array.isArray(parts)) continue
      changed[name] = parts.map((part: unknown, at) =>
        isRecord(part) ? change(part, `input.${index}.${name}.${at}`) : part,
      )
    }
    return { ...item, ...changed }
  })
}
