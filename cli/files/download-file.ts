import { existsSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { createTransferBar, type TransferBar } from '../output/transfer-bar.ts'
import { explainFileError } from './explain-file-error.ts'
import { appendBody, partOf, readLength } from './save-response-body.ts'

const TRIES_MAX = 5
const PAUSE_MS = 200

/** Downloads to a file beside the target and renames it when it is complete. A cut connection is continued where it ended. */
export async function downloadFile(url: string, path: string): Promise<void> {
  const part = partOf(path)
  const bar = createTransferBar(process.stderr, { name: path, bytesTotal: null })
  try {
    await rm(part, { force: true })
    await downloadInTries(url, { path, part, bar })
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
  readonly part: string
  readonly bar: TransferBar
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

async function downloadRest(url: string, { part, bar }: Download): Promise<void> {
  const begun = existsSync(part) ? statSync(part).size : 0
  // A compressed body cannot be continued at a position of the file.
  const headers = { 'accept-encoding': 'identity', ...(begun === 0 ? {} : { range: `bytes=${begun}-` }) }
  const response = await fetch(url, { headers })
  if (response.status === 416 && begun > 0) return
  if (!response.ok)
    throw new CommandFailure(EXIT.failed, `The file could not be fetched: status ${response.status}.`)
  const isContinued = response.status === 206 && startOf(response) === begun
  const length = readLength(response)
  bar.start(isContinued ? begun : 0, length === null ? null : length + (isContinued ? begun : 0))
  if (response.status === 206 && !isContinued && begun > 0)
    throw new CommandFailure(EXIT.failed, 'The gateway continued the file at another place.')
  await appendBody(response, { part, flags: isContinued ? 'a' : 'w', bar })
}

function startOf(response: Response): number | null {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
  return start === undefined ? null : Number(start)
}
