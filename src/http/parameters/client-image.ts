import { createReadStream } from 'node:fs'
import { Type, type Static } from 'typebox'
import { invalidValue } from '../../kernel/app-error.ts'
import { isBase64 } from '../../kernel/media/is-base64.ts'
import type { ClientFile } from '../../modules/generation/generation.ts'
import { uuidOfFile } from '../../wires/openai-files/file-id.ts'
import type { UploadedFile } from '../multipart/form.ts'

/** An image in a JSON body. */
export const ImageInput = Type.Union(
  [
    Type.String({ minLength: 1, description: 'A data URI, base64, or an http(s) address.' }),
    Type.Object({ url: Type.String({ minLength: 1, description: 'The address of the picture.' }) }),
    Type.Object({ b64: Type.String({ minLength: 1, description: 'The file in base64.' }) }),
    Type.Object({
      image_url: Type.String({ minLength: 1, description: 'A data URI, or an http(s) address.' }),
    }),
    Type.Object({
      file_id: Type.String({ minLength: 1, description: 'A file with the purpose `vision` or `user_data`.' }),
    }),
  ],
  { title: 'ImageInput' },
)

export type ImageInput = Static<typeof ImageInput>

const DATA_PATTERN = /^data:[^,]{0,200},/i

/** Reads an image from the request; its type is detected from its bytes later. */
export function readClientImage(input: ImageInput, param: string): ClientFile {
  if (typeof input === 'object' && 'b64' in input) return fromBase64(input.b64, `${param}.b64`)
  if (typeof input === 'object' && 'file_id' in input) return fromFileId(input.file_id, `${param}.file_id`)
  if (typeof input === 'object' && 'image_url' in input)
    return readClientImage(input.image_url, `${param}.image_url`)
  const text = typeof input === 'string' ? input : input.url
  const [head] = DATA_PATTERN.exec(text) ?? []
  if (head !== undefined) {
    if (!/;base64,$/i.test(head)) throw invalidValue(param, `'${param}' must be a data URI in base64.`)
    return fromBase64(text.slice(head.length), param)
  }
  if (/^https?:\/\//i.test(text)) return { kind: 'address', url: text, param }
  if (typeof input === 'object')
    throw invalidValue(`${param}.url`, `'${param}.url' must be an http(s) address.`)
  return fromBase64(text, param)
}

function fromFileId(fileId: string, param: string): ClientFile {
  const uuid = uuidOfFile(fileId)
  if (uuid === null) throw invalidValue(param, `'${param}' is not the id of a file of this gateway.`)
  return { kind: 'uploaded', fileId: uuid, param }
}

export function fromUpload({ path, field }: UploadedFile): ClientFile {
  return { kind: 'stream', param: field, open: () => createReadStream(path) }
}

function fromBase64(text: string, param: string): ClientFile {
  const packed = text.replaceAll(/\s/g, '')
  if (!isBase64(packed))
    throw invalidValue(param, `'${param}' must be an http(s) address, a data URI or base64.`)
  return { kind: 'bytes', bytes: Buffer.from(packed, 'base64'), param }
}
