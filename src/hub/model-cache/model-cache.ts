import { realpath } from 'node:fs/promises'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import { HubError } from '../hub-error.ts'
import { isCommit, isFilePath, isHubId } from '../hub-id.ts'
import type { ModelFile } from '../model-file.ts'
import { CacheDirectory, isDiskFull, makeDirectory, type CacheProgress } from './cache-directory.ts'
import { downloadFile } from './download-file.ts'
import { withLock } from './download-lock.ts'
import { reserveRoom, type CacheLimits } from './reserve-room.ts'

interface CacheOrder {
  readonly modelId: string
  readonly commit: string
  readonly files: readonly ModelFile[]
  /** Sent to the hub only, never to redirect targets. Not stored. */
  readonly token: string | null
  /** Whether an order without a token is fetched with the operator's. */
  readonly asOperator?: boolean
  readonly cancellation?: Cancellation
  /** Called often, also while another process downloads the files. */
  readonly onProgress?: (progress: CacheProgress) => void
}

interface CachedModel {
  /** Contains all files of the order under their names. */
  readonly directory: string
  /** The path of each file, in the sequence of `files`. */
  readonly paths: readonly string[]
}

/** Models of the hub on the local disk, shared by all processes of the gateway. */
export interface ModelCache {
  /** Downloads missing files and returns all paths. Throws a `HubError`, or the reason of the cancellation. */
  fetch(order: CacheOrder): Promise<CachedModel>
  /** Returns how many bytes of the files are in the cache. */
  measure(order: Pick<CacheOrder, 'modelId' | 'commit' | 'files'>): Promise<CacheProgress>
}

interface ModelCacheOptions {
  readonly outbound: Pick<Outbound, 'fetch'>
  /** Address of the hub, without a trailing slash. */
  readonly endpoint: string
  /** The operator's token, for orders `asOperator` without one of their own. */
  readonly token?: string | null
  readonly directory: string
  readonly limits: CacheLimits
}

const FILES_MAX = 1_000

/** Creates a cache with the directory layout of the hub's own libraries, so that engines can use it too. */
export function createModelCache(options: ModelCacheOptions): ModelCache {
  const open = async (order: Pick<CacheOrder, 'modelId' | 'commit' | 'files'>): Promise<CacheDirectory> => {
    checkOrder(order)
    await makeDirectory(options.directory)
    return new CacheDirectory(await realpath(options.directory), order)
  }

  return {
    measure: async (order) => (await open(order)).measure(order.files),
    fetch: async (order) => {
      const directory = await open(order)
      try {
        return await fetchAll(directory, order, options)
      } catch (error) {
        throw isDiskFull(error)
          ? new HubError('no_space', 'The disk of the model cache is full.', { cause: error })
          : error
      }
    },
  }
}

async function fetchAll(
  directory: CacheDirectory,
  order: CacheOrder,
  options: ModelCacheOptions,
): Promise<CachedModel> {
  const { cancellation, files } = order
  cancellation?.throwIfCancelled()
  await directory.prepare()
  // Before the download, so that the remains of an interrupted one can be deleted to make room.
  await directory.touch()
  const missing = await directory.listMissing(files)
  const room =
    missing.length === 0 ? null : await reserveRoom(directory, missing, options.limits, cancellation)
  try {
    for (const file of missing) await fetchFile(directory, file, order, options)
    const paths: string[] = []
    for (const file of files) paths.push(await directory.link(file))
    return { directory: directory.snapshot, paths }
  } finally {
    // Only now: a blob without a link may be deleted to make room for another model.
    await room?.release()
  }
}

/** Downloads a file under a lock. Other processes wait, and resume the download if the holder stops. */
async function fetchFile(
  directory: CacheDirectory,
  file: ModelFile,
  order: CacheOrder,
  options: ModelCacheOptions,
): Promise<void> {
  const { cancellation, onProgress } = order
  const tell = async () => {
    if (onProgress !== undefined) onProgress(await directory.measure(order.files))
  }
  await withLock(directory.lockOf(file), { cancellation, onWait: tell }, async (lock) => {
    if (await directory.isComplete(file)) return
    const before = onProgress === undefined ? null : await directory.measure(order.files)
    const have = before === null ? 0 : await directory.bytesOf(file)
    await downloadFile({
      ...options,
      address: { modelId: order.modelId, commit: order.commit, token: tokenOf(order, options) },
      file,
      partPath: directory.partOf(file),
      cancellation,
      isLost: () => lock.isLost,
      onBytes: (bytes) => {
        if (before !== null) onProgress?.({ ...before, bytesDone: before.bytesDone - have + bytes })
      },
    })
    await directory.complete(file)
  })
  await tell()
}

function tokenOf(
  { token, asOperator = false }: CacheOrder,
  { token: operatorToken = null }: ModelCacheOptions,
): string | null {
  return token ?? (asOperator ? operatorToken : null)
}

function checkOrder({ modelId, commit, files }: Pick<CacheOrder, 'modelId' | 'commit' | 'files'>): void {
  if (!isHubId(modelId) || !isCommit(commit))
    throw new HubError('unreadable', 'This is no model of the hub at a commit.')
  if (files.length === 0 || files.length > FILES_MAX)
    throw new HubError('unreadable', `A model has between 1 and ${FILES_MAX} files.`)
  for (const { path, sizeBytes, checksum } of files) {
    if (!isFilePath(path)) throw new HubError('unreadable', 'The model has a file with an unsafe name.')
    const isIntact =
      Number.isSafeInteger(sizeBytes) &&
      sizeBytes >= 0 &&
      (checksum.kind === 'sha256' ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/).test(checksum.hex)
    if (!isIntact)
      throw new HubError('unreadable', 'The hub does not say how large a file is, or its checksum.')
  }
  if (new Set(files.map(({ path }) => path)).size !== files.length)
    throw new HubError('unreadable', 'The model has two files with one name.')
}
