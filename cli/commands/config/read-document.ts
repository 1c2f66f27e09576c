import { parse } from 'yaml'
import { readFile } from 'node:fs/promises'
import type { Schemas } from '../../api/gateway-client.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { explainReadError } from '../../files/explain-read-error.ts'

/** The gateway checks what is in it. */
export type ConfigDocument = Schemas['ConfigDocument']

const BYTES_MAX = 8 * 1024 * 1024

/** Reads a document of `config export`, in YAML or JSON. */
export async function readDocument(path: string): Promise<ConfigDocument> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw explainReadError(path, error)
  })
  if (text.length > BYTES_MAX)
    throw new CommandFailure(EXIT.usage, `${path} is larger than a document of a gateway.`)
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw new CommandFailure(EXIT.usage, `${path} is not YAML: ${reason}`)
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new CommandFailure(EXIT.usage, `${path} is not a document of "parkway config export".`)
  return document as ConfigDocument
}
