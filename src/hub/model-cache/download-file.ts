import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { Cancellation } from '../../kernel/cancellation.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../../outbound/outbound.ts'
import { HubError } from '../hub-error.ts'
import { failureOf, fileUrl, retryAfterMs } from '../hub-files.ts'
import { isDiskFull } from './cache-directory.ts'
import type { ModelFile } from '../model-file.ts'

interface Download {
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly endpoint: string
  readonly address: { readonly modelId: string; readonly commit: string; readonly token: string | null }
  readonly file: ModelFile
  /** Path of the partial file. Existing bytes are kept and the download resumes after them. */
  readonly partPath: string
  readonly cancellation: Cancellation | undefined
  /** Whether another process has taken over the lock of this file. */
  readonly isLost: () => boolean
  /** Called with the number of bytes downloaded so far. */
  readonly onBytes: (bytes: number) => void
}

/** Consecutive attempts without a new byte. */
const ATTEMPTS_MAX = 5
const PAUSE_MS = 500
const PAUSE_MS_MAX = 120_000
/** A connection that delivers nothing for this long is closed. */
const SILENT_MS = 60_000
/** Limit for one request. The next request downloads the rest. */
const REQUEST_MS_MAX = 12 * 3_600_000
const REDIRECTS_MAX = 4

/** Downloads a file and resumes after interruptions. The checksum covers the whole file, including bytes of earlier downloads. */
export async function downloadFile(download: Download): Promise<void> {
  const { file, partPath } = download
  const part = await open(partPath, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  try {
    const progress = await Progress.of(part, file)
    await readAll(download, part, progress)
    if (progress.hash.digest('hex') !== file.checksum.hex)
      throw new HubError(
        'corrupt',
        `The file ${file.path} has another checksum than the hub says. It was deleted.`,
      )
    await part.datasync()
  } catch (error) {
    if (mustGo(error)) await rm(partPath, { force: true })
    throw error
  } finally {
    await part.close()
  }
}

/** Returns whether the partial file must be deleted: it cannot be resumed, or the disk is full. */
function mustGo(error: unknown): boolean {
  if (isDiskFull(error)) return true
  return error instanceof HubError && (error.failure === 'corrupt' || error.failure === 'unreadable')
}

/** The number of bytes downloaded, and the checksum of these bytes. */
class Progress {
  bytes = 0
  hash: Hash
  readonly #file: ModelFile

  private constructor(file: ModelFile) {
    this.#file = file
    this.hash = startHash(file)
  }

  static async of(part: FileHandle, file: ModelFile): Promise<Progress> {
    const progress = new Progress(file)
    const { size } = await part.stat()
    if (size > file.sizeBytes) await part.truncate(0)
    else if (size > 0)
      for await (const piece of part.createReadStream({ autoClose: false, start: 0, end: size - 1 }))
        progress.add(piece)
    return progress
  }

  add(piece: Uint8Array): void {
    this.hash.update(piece)
    this.bytes += piece.byteLength
  }

  async restart(part: FileHandle): Promise<void> {
    await part.truncate(0)
    this.bytes = 0
    this.hash = startHash(this.#file)
  }
}

/** Git hashes a blob with its type and size as a prefix. */
function startHash({ checksum, sizeBytes }: ModelFile): Hash {
  if (checksum.kind === 'sha256') return createHash('sha256')
  return createHash('sha1').update(`blob ${sizeBytes}\0`)
}

async function readAll(download: Download, part: FileHandle, progress: Progress): Promise<void> {
  const { file, cancellation } = download
  let failures = 0
  while (progress.bytes < file.sizeBytes) {
    const before = progress.bytes
    const cut = await readOnce(download, part, progress)
    if (cut === null) continue
    cancellation?.throwIfCancelled()
    failures = progress.bytes > before ? 1 : failures + 1
    if (failures >= ATTEMPTS_MAX) throw cut.error
    const pauseMs = Math.min(cut.retryAfterMs ?? PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX)
    await wait(pauseMs, undefined, cancellation === undefined ? {} : { signal: cancellation.signal }).catch(
      () => {},
    )
    cancellation?.throwIfCancelled()
  }
}

/** A request that ended before the end of the file and can be retried. */
interface Cut {
  readonly error: HubError
  readonly retryAfterMs: number | null
}

async function readOnce(download: Download, part: FileHandle, progress: Progress): Promise<Cut | null> {
  const { endpoint, address, file, outbound } = download
  const stop = followCancellation(download.cancellation)
  try {
    const from = progress.bytes
    const response = await outbound.fetch({
      url: fileUrl(endpoint, { modelId: address.modelId, revision: address.commit }, file.path),
      headers: address.token === null ? {} : { authorization: `Bearer ${address.token}` },
      keepsHeadersOnOrigin: true,
      sharedHeaders: { 'accept-encoding': 'identity', ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
      bytesMax: file.sizeBytes,
      timeoutMs: REQUEST_MS_MAX,
      redirectsMax: REDIRECTS_MAX,
      trustedHosts: [new URL(endpoint).host],
      cancellation: stop.cancellation,
    })
    const { status } = response
    if (status !== 200 && status !== 206) {
      response.discard()
      const error = failureOf(status)
      if (error.failure !== 'unavailable') throw error
      return { error, retryAfterMs: retryAfterMs(response.header('retry-after')) }
    }
    // A server without range support sends the whole file.
    if (status === 200 && from > 0) await progress.restart(part)
    checkRange(response.header('content-range'), status === 206 ? from : null, file)
    await writeBody(response.body, part, progress, { ...download, onPiece: stop.renew })
    const isWhole = progress.bytes === file.sizeBytes
    return isWhole ? null : cutBy(new Error('the answer ended early'))
  } catch (error) {
    if (error instanceof OutboundRefused)
      throw new HubError('unreadable', 'The hub redirects to an address that is not allowed.', {
        cause: error,
      })
    if (error instanceof OutboundFailed && error.reason === 'too_large')
      throw new HubError('unreadable', `The hub sends more for ${file.path} than it said.`, { cause: error })
    if (error instanceof OutboundFailed) return cutBy(error)
    throw error
  } finally {
    stop.end()
  }
}

function cutBy(cause: unknown): Cut {
  return {
    error: new HubError('unavailable', 'The hub broke the download off.', { cause }),
    retryAfterMs: null,
  }
}

/** Throws if the response starts at another byte, or belongs to a file of another size. */
function checkRange(header: string | null, from: number | null, { path, sizeBytes }: ModelFile): void {
  if (from === null) return
  const told = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(header ?? '')
  const isRight =
    told !== null && Number(told[1]) === from && (told[2] === '*' || Number(told[2]) === sizeBytes)
  if (!isRight) throw new HubError('unreadable', `The hub sends another part of ${path} than was asked for.`)
}

async function writeBody(
  body: AsyncIterable<Uint8Array>,
  part: FileHandle,
  progress: Progress,
  { file, isLost, onBytes, onPiece }: Download & { onPiece: () => void },
): Promise<void> {
  for await (const piece of body) {
    onPiece()
    if (isLost()) throw new HubError('unavailable', 'Another process has taken the download over.')
    if (progress.bytes + piece.byteLength > file.sizeBytes)
      throw new HubError('unreadable', `The hub sends more for ${file.path} than it said.`)
    for (let written = 0; written < piece.byteLength;) {
      const rest = piece.subarray(written)
      written += (await part.write(rest, 0, rest.byteLength, progress.bytes + written)).bytesWritten
    }
    progress.add(piece)
    onBytes(progress.bytes)
  }
}

/** Returns a cancellation that follows the caller's and also fires if no data arrives for `SILENT_MS`. */
function followCancellation(outer: Cancellation | undefined) {
  const cancellation = new Cancellation()
  const cancel = (reason: unknown): void => cancellation.cancel(reason)
  const timer = setTimeout(() => {
    cancel(new OutboundFailed('timeout', 'The hub sends nothing any more.'))
  }, SILENT_MS)
  outer?.onCancel(cancel)
  return {
    cancellation,
    renew: () => {
      timer.refresh()
    },
    end: () => {
      clearTimeout(timer)
      outer?.offCancel(cancel)
    },
  }
}
