import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { createTransferBar, type TransferBar } from '../output/bars/transfer-bar.ts'
import { explainFileError } from './explain-file-error.ts'
import { partOf, readLength, writeBody } from './save-response-body.ts'

const TRIES_MAX = 5
const PAUSE_MS = 200

/** Downloads to a file beside the target and renames it when it is complete. A cut connection is continued where it ended. */
export async function downloadFile(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const part = partOf(path)
  const bar = createTransferBar(process.stderr, { name: path, bytesTotal: null })
  try {
    const file = openSync(part, 'w')
    try {
      await downloadInTries(url, { path, file, bar, headers })
    } finally {
      closeSync(file)
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw explainFileError(path, error)
  } finally {
    bar.clear()
  }
}

interface Download {
  readonly path: string
  /** Open for writing. */
  readonly file: number
  readonly bar: TransferBar
  /** Of the requests, such as the key. */
  readonly headers: Readonly<Record<string, string>>
}

async function downloadInTries(url: string, download: Download): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await downloadRest(url, download)
    } catch (error) {
      // fetch reports a broken connection in this way.
      if (!(error instanceof TypeError)) throw error
      if (attempt >= TRIES_MAX)
        throw new CommandFailure(
          EXIT.failed,
          `${download.path} could not be saved: the connection was cut ${TRIES_MAX} times.`,
        )
      await pause(PAUSE_MS * attempt)
    }
  }
}

async function downloadRest(url: string, { file, bar, headers: given }: Download): Promise<void> {
  const begun = fstatSync(file).size
  // A compressed body cannot be continued at a position of the file.
  const headers = {
    ...given,
    'accept-encoding': 'identity',
    ...(begun === 0 ? {} : { range: `bytes=${begun}-` }),
  }
  // A key is not sent on to another address.
  const redirect = 'authorization' in given ? 'manual' : 'follow'
  const response = await fetch(url, { headers, redirect })
  // Everything arrived before the cut.
  if (response.status === 416 && begun > 0) return
  if (!response.ok)
    throw new CommandFailure(EXIT.failed, `The file could not be fetched: status ${response.status}.`)
  const isContinued = response.status === 206 && startOf(response) === begun
  if (response.status === 206 && !isContinued)
    throw new CommandFailure(EXIT.failed, 'The gateway continued the file at another place.')
  const position = isContinued ? begun : 0
  ftruncateSync(file, position)
  const length = readLength(response)
  bar.start(position, length === null ? null : position + length)
  await writeBody(response, { file, position, bar })
}

function startOf(response: Response): number | null {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
  return start === undefined ? null : Number(start)
}
