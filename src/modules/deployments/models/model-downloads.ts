import { createHash } from 'node:crypto'
import type { FailureCode, InstanceFailure } from '../../../gpu/gpu-driver.ts'
import type { FetchedModel, ModelFiles, WantedModel } from '../../../gpu/model-files.ts'
import { HubError, type HubFailure } from '../../../hub/hub-error.ts'
import type { Hub } from '../../../hub/hub.ts'
import type { ModelCache } from '../../../hub/model-cache/model-cache.ts'
import { pickFiles } from '../../../hub/pick-files.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createLocatedModels, type LocatedFiles } from './located-models.ts'

/** Downloads of models from the hub for engines on this machine. */
export interface ModelDownloads extends ModelFiles {
  close(): void
}

interface DownloadOptions {
  readonly hub: Pick<Hub, 'listFiles'>
  readonly cache: Pick<ModelCache, 'fetch'>
  readonly clock: Clock
  /** The directory of the records of where fetched files are, for times when the hub is unavailable. */
  readonly directory: string
}

interface Download {
  readonly cancellation: Cancellation
  progress: number
  askedAtMs: number
  end: FetchedModel | null
}

/** A download is cancelled if no caller has asked for it for this long. The files fetched so far stay in the cache. */
const ABANDONED_MS = 60_000
const LOOK_MS = 10_000

/** Shares one download per process between callers that want the same files. The cache prevents duplicates across processes. */
export function createModelDownloads(options: DownloadOptions): ModelDownloads {
  const { clock } = options
  const downloads = new Map<string, Download>()
  const located = createLocatedModels(options.directory)
  const timer = setInterval(() => {
    for (const [key, { askedAtMs, cancellation }] of downloads) {
      if (clock.monotonicMs() - askedAtMs < ABANDONED_MS) continue
      downloads.delete(key)
      cancellation.cancel(new Error('nobody waits for this model any longer'))
    }
  }, LOOK_MS).unref()

  const begin = (wanted: WantedModel): Download => {
    const download: Download = {
      cancellation: new Cancellation(),
      progress: 0,
      askedAtMs: clock.monotonicMs(),
      end: null,
    }
    const note = (progress: number) => {
      download.progress = progress
    }
    void fetchFiles(options, wanted, { cancellation: download.cancellation, note })
      .then(async (files) => {
        await located.write(wanted, files)
        download.end = toFetched(files)
      })
      .catch(async (error: unknown) => {
        // While the hub is unavailable, use the files of an earlier download.
        const known = isUnavailable(error) && wanted.hubToken === null ? await located.read(wanted) : null
        download.end = known === null ? { state: 'failed', failure: explain(error) } : toFetched(known)
      })
    return download
  }

  return {
    fetch: async (wanted) => {
      const key = keyOf(wanted)
      const download = downloads.get(key) ?? begin(wanted)
      downloads.set(key, download)
      download.askedAtMs = clock.monotonicMs()
      const { end, progress } = download
      if (end === null) return { state: 'fetching', progress }
      downloads.delete(key)
      return end
    },
    close: () => {
      clearInterval(timer)
      for (const { cancellation } of downloads.values()) cancellation.cancel(new Error('the gateway stops'))
    },
  }
}

/** Returns the key of a download. It contains the token, so that a caller with another token, or none, does not share it. */
function keyOf({ huggingfaceId, revision, quantization, hubToken, asOperator, isGguf }: WantedModel): string {
  const token = hubToken === null ? null : createHash('sha256').update(hubToken).digest('hex')
  return JSON.stringify([huggingfaceId, revision, quantization, isGguf, token, asOperator])
}

interface Watch {
  readonly cancellation: Cancellation
  readonly note: (progress: number) => void
}

async function fetchFiles(
  { hub, cache }: DownloadOptions,
  wanted: WantedModel,
  { cancellation, note }: Watch,
): Promise<LocatedFiles> {
  const { huggingfaceId: modelId, revision, quantization, hubToken: token, asOperator, isGguf } = wanted
  const listed = await hub.listFiles({ modelId, revision, token, asOperator })
  const usable = isGguf ? listed.files.filter(({ path }) => /\.gguf$/i.test(path)) : listed.files
  if (usable.length === 0) throw new HubError('unreadable', NO_GGUF)
  const { files, format } = pickFiles(usable, quantization)
  const { directory, paths } = await cache.fetch({
    modelId,
    commit: listed.commit,
    files,
    token,
    asOperator,
    cancellation,
    onProgress: ({ bytesDone, bytesTotal }) =>
      note(bytesTotal === 0 ? 100 : Math.floor((bytesDone / bytesTotal) * 100)),
  })
  return { directory, paths: [...paths], ggufPath: format === 'gguf' ? (paths[0] ?? null) : null }
}

const NO_GGUF = 'The repository has no GGUF files, and this machine serves no others.'

function toFetched({ directory, ggufPath }: LocatedFiles): FetchedModel {
  return { state: 'ready', directory, ggufPath }
}

const CODES: Readonly<Record<HubFailure, FailureCode>> = {
  missing: 'model_unsupported',
  gated: 'model_gated',
  unreadable: 'model_unsupported',
  too_large: 'model_unsupported',
  // Temporary failures, mapped to a code that is retried.
  unavailable: 'image_pull_failed',
  corrupt: 'image_pull_failed',
  no_space: 'image_pull_failed',
}

function explain(error: unknown): InstanceFailure {
  if (error instanceof HubError) return { code: CODES[error.failure], message: error.message }
  return { code: 'image_pull_failed', message: 'The files of the model could not be fetched.' }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof HubError && error.failure === 'unavailable'
}
