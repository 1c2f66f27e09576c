import { readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'

const BYTES_MAX = 20 * 1024 * 1024
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ...IMAGE_TYPES,
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.flac': 'audio/flac',
  '.ogg': 'audio/ogg',
  '.m4a': 'audio/mp4',
  '.webm': 'video/webm',
  '.mp4': 'video/mp4',
}

/** Returns an image as the value of `image_url`: an address as it is, a file as a data URI. */
export function readImage(source: string): string {
  if (/^https?:\/\//.test(source)) return source
  const type = IMAGE_TYPES[extname(source).toLowerCase()]
  if (type === undefined)
    throw new CommandFailure(
      EXIT.usage,
      `"${source}" is not an image that models read (PNG, JPEG, WebP, GIF).`,
    )
  return `data:${type};base64,${readFile(source).toString('base64')}`
}

/** Returns a file as a member of a request: media as a data URI, anything else as its text. */
export function readFileValue(path: string): string {
  const type = MEDIA_TYPES[extname(path).toLowerCase()]
  if (type !== undefined) return `data:${type};base64,${readFile(path).toString('base64')}`
  const text = readFile(path).toString('utf8')
  if (text.includes('\u0000'))
    throw new CommandFailure(EXIT.usage, `"${path}" is neither text nor a known kind of media.`)
  return text
}

/** Returns a text file with its name, to put before the prompt. */
export function readTextFile(path: string): string {
  const text = readFile(path).toString('utf8')
  if (text.includes('\u0000')) throw new CommandFailure(EXIT.usage, `"${path}" is not a text file.`)
  return `${basename(path)}:\n\n${text}`
}

function readFile(path: string): Buffer {
  try {
    if (statSync(path).size > BYTES_MAX)
      throw new CommandFailure(EXIT.usage, `"${path}" is larger than ${BYTES_MAX / 1024 / 1024} MiB.`)
    return readFileSync(path)
  } catch (error) {
    throw explainReadError(path, error)
  }
}
