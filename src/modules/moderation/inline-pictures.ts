import { invalidValue } from '../../kernel/app-error.ts'
import { isDataUri } from '../../kernel/media/data-uri.ts'
import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import type { ModerationPart, ModerationRequest } from '../../wires/openai-moderations/moderation-request.ts'
import type { InferenceRequest } from '../inference/inference.ts'
import { findFileUses, inlineFiles, type FileUse, type InlinedUse, type OwnFiles } from '../media/media.ts'

/** Replaces the URLs of the gateway's own images with their data, because an upstream may not be able to reach the gateway. */
export async function inlinePictures(
  media: OwnFiles,
  request: InferenceRequest<ModerationRequest>,
): Promise<InferenceRequest<ModerationRequest>> {
  const uses = findPictures(media, request.body)
  if (uses.length === 0) return request
  const files = await inlineFiles(media, {
    place: request.caller,
    uses,
    cancellation: request.cancellation,
  })
  const replace = (item: ModerationPart): ModerationPart => {
    const file = item.type === 'image_url' ? files.get(item.image_url.url) : undefined
    if (file === undefined || item.type !== 'image_url') return item
    const url = `data:${file.contentType};base64,${file.base64}`
    return { ...item, image_url: { ...item.image_url, url } }
  }
  const { input } = request.body
  const body = { ...request.body, input: isParts(input) ? input.map(replace) : input }
  const edits = new Map([['input', JSON.stringify(body.input)]])
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text, bytes: Buffer.byteLength(text) }
}

function findPictures(media: Pick<OwnFiles, 'ownIdOf'>, { input }: ModerationRequest): InlinedUse[] {
  if (typeof input === 'string') return []
  const uses: FileUse[] = []
  for (const [index, item] of input.entries())
    if (typeof item !== 'string' && item.type === 'image_url')
      uses.push({ url: item.image_url.url, kind: 'image', param: `input.${index}.image_url.url` })
  return findFileUses(media, uses, { fetchesForeign: false })
}

/** Throws if the request has a picture at an address, which a server in the operator's network would fetch. */
export function refuseAddresses({ input }: ModerationRequest): void {
  if (typeof input === 'string') return
  for (const [index, item] of input.entries()) {
    if (typeof item === 'string' || item.type !== 'image_url' || isDataUri(item.image_url.url)) continue
    const param = `input.${index}.image_url.url`
    throw invalidValue(param, `'${param}' must be a data URI: the server of this model fetches no addresses.`)
  }
}

function isParts(input: ModerationRequest['input']): input is ModerationPart[] {
  return typeof input !== 'string' && typeof input[0] === 'object'
}
