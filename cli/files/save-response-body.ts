import { open, rename, rm } from 'node:fs/promises'
import { createTransferBar, type TransferBar } from '../output/transfer-bar.ts'
import { explainFileError } from './explain-file-error.ts'

/** Saves the body of a response. Only a complete file gets its name. */
export async function saveResponseBody(response: Response, path: string): Promise<void> {
  const part = partOf(path)
  const bar = createTransferBar(process.stderr, { name: path, bytesTotal: readLength(response) })
  try {
    await appendBody(response, { part, flags: 'w', bar })
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw explainFileError(path, error)
  } finally {
    bar.clear()
  }
}

/** The file that is written until it is complete. */
export function partOf(path: string): string {
  return `${path}.part`
}

/** Writes a body to the end of a file, and shows how far it is. */
export async function appendBody(
  response: Response,
  { part, flags, bar }: { part: string; flags: 'a' | 'w'; bar: TransferBar },
): Promise<void> {
  if (response.body === null) return
  const file = await open(part, flags)
  try {
    // Each piece is written before the next one is read, so that a cut loses nothing that arrived.
    for await (const bytes of response.body) {
      await file.writeFile(bytes)
      bar.add(bytes.length)
    }
  } finally {
    await file.close()
  }
}

/** Returns how many bytes follow, or null if the gateway does not tell. */
export function readLength(response: Response): number | null {
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  // The length of a compressed body is not that of the file.
  return Number.isSafeInteger(length) && !response.headers.has('content-encoding') ? length : null
}
