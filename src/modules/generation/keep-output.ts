import type { Cancellation } from '../../kernel/cancellation.ts'
import type { MediaOutput, OutputFile } from '../../providers/media/media-operation.ts'
import { StoreUnavailable } from '../../storage/media-store/report-store-failures.ts'
import type { Place } from '../../storage/place.ts'
import type { Media, MediaFile, MediaKind } from '../media/media.ts'
import type { Pause } from './follow-job.ts'

export interface KeptFile {
  readonly file: MediaFile
  readonly revisedPrompt?: string
}

interface KeepOutputOptions {
  readonly media: Pick<Media, 'keep' | 'keepFromAddress' | 'remove'>
  readonly place: Place
  readonly kind: MediaKind
  /** The provider's own hosts, which may be private. */
  readonly trustedHosts: readonly string[]
  readonly cancellation: Cancellation
  readonly pause: Pause
  /** How long to wait for a store that does not work. The output has been paid for. */
  readonly storeWaitMs: number
  /** Returns the same output with new URLs, if the upstream can be asked again. */
  readonly refresh?: (() => Promise<MediaOutput>) | undefined
}

const ROUNDS_MAX = 3
const PAUSE_MS = 500
const STORE_PAUSE_MS = 5_000

/** Copies the output into the store, all files or none. If a URL has expired, asks the upstream for a new one. */
export async function keepOutput(output: MediaOutput, options: KeepOutputOptions): Promise<KeptFile[]> {
  const { cancellation } = options
  let current = output
  let waitedMs = 0
  for (let round = 1; ; round += 1) {
    try {
      return await keepAll(current.files, options)
    } catch (error) {
      cancellation.throwIfCancelled()
      const { refresh } = options
      if (error instanceof StoreUnavailable) {
        if (waitedMs >= options.storeWaitMs) throw error
        await options.pause(STORE_PAUSE_MS, cancellation)
        cancellation.throwIfCancelled()
        waitedMs += STORE_PAUSE_MS
        // Not a round: the upstream has done its part.
        round -= 1
        if (refresh && hasAddress(current)) current = await refresh().catch(() => current)
        continue
      }
      if (round === ROUNDS_MAX || !refresh || !hasAddress(current)) throw error
      await options.pause(PAUSE_MS * 2 ** round, cancellation)
      current = await refresh().catch(() => current)
    }
  }
}

function hasAddress({ files }: MediaOutput): boolean {
  return files.some(({ kind }) => kind === 'url')
}

async function keepAll(files: readonly OutputFile[], options: KeepOutputOptions): Promise<KeptFile[]> {
  const settled = await Promise.allSettled(files.map((file) => keepOne(file, options)))
  const kept = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed === undefined) return kept
  await options.media.remove(kept.map(({ file }) => file.id))
  throw failed.reason
}

async function keepOne(output: OutputFile, options: KeepOutputOptions): Promise<KeptFile> {
  const { media, place, kind, trustedHosts, cancellation } = options
  const order = { place, purpose: 'result', kind } as const
  const file =
    output.kind === 'bytes'
      ? await media.keep({ ...order, source: output.bytes, contentType: output.contentType })
      : await media.keepFromAddress({
          ...order,
          url: output.url,
          ...(output.headers ? { headers: output.headers } : {}),
          trustedHosts,
          cancellation,
        })
  return { file, ...(output.revisedPrompt === undefined ? {} : { revisedPrompt: output.revisedPrompt }) }
}
