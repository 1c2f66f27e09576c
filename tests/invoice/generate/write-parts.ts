import type { Case, PartChoice } from '../case.ts'
import type { HostedFiles } from '../files/hosted-files.ts'
import { writeFile, type FileShape } from '../files/write-file.ts'

/** A file as a request carries it: at an address, or as base64 with its declared type. */
export interface CarriedFile {
  readonly part: PartChoice
  readonly mediaType: string
  readonly base64: string
  /** A data URL or an address. */
  readonly url: string
  readonly name: string
}

export function carryFiles(made: Case, files: HostedFiles): CarriedFile[] {
  return made.parts.map((part, index) => {
    const bytes = writeFile(part.file)
    const mediaType = part.declared ?? trueTypeOf(part.file)
    const base64 = bytes.toString('base64')
    const name = `case-${made.number}-${index}.${EXTENSIONS[mediaType] ?? 'bin'}`
    const url =
      part.by === 'address'
        ? files.publish(name, trueTypeOf(part.file), bytes)
        : `data:${mediaType};base64,${base64}`
    return { part, mediaType, base64, url, name }
  })
}

function trueTypeOf(file: FileShape): string {
  switch (file.is) {
    case 'picture':
      return 'image/png'
    case 'pdf':
      return 'application/pdf'
    case 'audio':
      return file.format === 'wav' ? 'audio/wav' : 'audio/mp3'
    case 'video':
      return 'video/mp4'
    case 'text':
      return 'text/plain'
  }
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'application/pdf': 'pdf',
  'audio/wav': 'wav',
  'audio/mp3': 'mp3',
  'video/mp4': 'mp4',
  'text/plain': 'txt',
}

/** A part of OpenAI's chat wire. */
export function toChatPart({ part, url, base64, name, mediaType }: CarriedFile): object {
  switch (part.as) {
    case 'picture':
      return {
        type: 'image_url',
        image_url: { url, ...(part.detail === null ? {} : { detail: part.detail }) },
      }
    case 'file':
      return { type: 'file', file: { file_data: url, filename: name } }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: base64, format: mediaType.split('/')[1] ?? 'wav' } }
    case 'video':
      return { type: 'video_url', video_url: { url } }
  }
}

/** A block of Anthropic's wire, which has pictures and documents only. */
export function toBlock({ part, url, base64, mediaType }: CarriedFile): object {
  const isText = part.file.is === 'text' && part.as !== 'picture'
  const source =
    part.by === 'address'
      ? { type: 'url', url }
      : isText
        ? { type: 'text', media_type: 'text/plain', data: Buffer.from(base64, 'base64').toString() }
        : { type: 'base64', media_type: mediaType, data: base64 }
  return { type: part.as === 'picture' ? 'image' : 'document', source }
}

/** A part of OpenAI's Responses wire. */
export function toInputPart({ part, url, base64, name, mediaType }: CarriedFile): object {
  switch (part.as) {
    case 'picture':
    case 'video':
      return { type: 'input_image', image_url: url, detail: part.detail ?? 'auto' }
    case 'file':
      return part.by === 'address'
        ? { type: 'input_file', file_url: url }
        : { type: 'input_file', file_data: url, filename: name }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: base64, format: mediaType.split('/')[1] ?? 'wav' } }
  }
}
