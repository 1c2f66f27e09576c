import { readFile } from 'node:fs/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from '../files/explain-read-error.ts'
import { readStdin } from './read-stdin.ts'

/** More than any of the objects may have that are written by hand. */
const BYTES_MAX = 256 * 1024

/** Reads a JSON object from a file, or from stdin for "-". */
export async function readJsonObject(path: string): Promise<Record<string, unknown>> {
  const text = path === '-' ? (await readStdin(BYTES_MAX)).toString('utf8') : await readText(path)
  const name = path === '-' ? 'The input' : path
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${name} is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new CommandFailure(EXIT.usage, `${name} is not a JSON object.`)
}

async function readText(path: string): Promise<string> {
  let text: Buffer
  try {
    text = await readFile(path)
  } catch (error) {
    throw explainReadError(path, error)
  }
  if (text.length > BYTES_MAX)
    throw new CommandFailure(EXIT.usage, `${path} is longer than ${BYTES_MAX / 1024} KiB.`)
  return text.toString('utf8')
}
