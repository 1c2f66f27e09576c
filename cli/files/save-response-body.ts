import { closeSync, openSync, writeSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { createTransferBar, type TransferBar } from '../output/bars/transfer-bar.ts'
import { connectionCut, isCut } from '../api/read-body.ts'
import { explainFileError } from './explain-file-error.ts'

/** Saves the body of a response. Only a complete file gets its name. */
export async function saveResponseBody(
  response: Response,
  path: string,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<void> {
  const part = partOf(path)
  const bar = createTransferBar(process.stderr, { name: path, bytesTotal: readLength(response) })
  try {
    const file = openSync(part, 'w')
    try {
      await writeBody(response, { file, position: 0, bar, mayBeEmpty })
    } finally {
      closeSync(file)
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw isCut(error) ? connectionCut() : explainFileError(path, error)
  } finally {
    bar.clear()
  }
}

/** The file that is written until it is complete. */
export function partOf(path: string): string {
  return `${path}.part`
}

/** Writes a body from a position of an open file on, and shows how far it is. */
export async function writeBody(
  response: Response,
  {
    file,
    position,
    bar,
    mayBeEmpty = false,
  }: { file: number; position: number; bar: TransferBar; mayBeEmpty?: boolean },
): Promise<void> {
  let at = position
  // Written at once: when a connection breaks, fetch drops what arrived and was not yet taken.
  for await (const bytes of response.body ?? []) {
    for (let done = 0; done < bytes.length;) {
      const written = writeSync(file, bytes, done, bytes.length - done, at)
      done += written
      at += written
    }
    bar.add(bytes.length)
  }
  if (at === 0 && !mayBeEmpty) throw nothingSent()
}

const nothingSent = () => new CommandFailure(EXIT.failed, 'The gateway sent an empty file.')

/** Returns how many bytes follow, or null if the gateway does not tell. */
export function readLength(response: Response): number | null {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  // The length of a compressed body is not that of the file.
  return Number.isSafeInteger(length) && !response.headers.has('content-encoding') ? length : null
}
