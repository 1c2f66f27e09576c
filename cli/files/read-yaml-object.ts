import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { explainReadError } from './explain-read-error.ts'

const BYTES_MAX = 8 * 1024 * 1024

/** Reads an object from a YAML or JSON file. The gateway checks what is in it. */
export async function readYamlObject(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw explainReadError(path, error)
  })
  if (text.length > BYTES_MAX) throw new CommandFailure(EXIT.usage, `${path} is larger than eight megabytes.`)
  let content: unknown
  try {
    content = parse(text)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new CommandFailure(EXIT.usage, `${path} is not YAML: ${reason}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new CommandFailure(EXIT.usage, `${path} is not an object of YAML or JSON.`)
  return { ...content }
}
