import { readFileSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

const BYTES_MAX = 20 * 1024 * 1024
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
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
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(EXIT.usage, `"${path}" cannot be read: ${(error as Error).message}.`)
  }
}
