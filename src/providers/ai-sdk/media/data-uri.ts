import type { InputFile } from '../../media/media-operation.ts'

export function toDataUri({ bytes, contentType }: InputFile): string {
  return `data:${contentType};base64,${toBase64({ bytes })}`
}

export function toBase64({ bytes }: Pick<InputFile, 'bytes'>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
