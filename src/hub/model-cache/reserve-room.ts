import { randomUUID } from 'node:crypto'
import { lstat, readdir, readFile, rm, statfs, unlink, utimes, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { HubError } from '../hub-error.ts'
import { isCommit, isHubId } from '../hub-id.ts'
import { ignoreMissing, makeDirectory, nameOfModel, type CacheDirectory } from './cache-directory.ts'
import { describeHolder, isDead, withLock } from './download-lock.ts'
import type { ModelFile } from '../model-file.ts'

export interface CacheLimits {
  /** Limit for the whole cache. */
  readonly bytesMax: number
  /** Bytes of the disk that must stay free. */
  readonly freeBytesMin: number
  /** Returns those of the given models that a deployment uses. Null if that is not known: then nothing is deleted. */
  readonly listUsed: ((models: readonly CachedCommit[]) => Promise<readonly CachedCommit[]>) | null
}

export interface CachedCommit {
  readonly modelId: string
  readonly commit: string
}

interface Room {
  release(): Promise<void>
}

const BEAT_MS = 5_000
/** A claim that was not refreshed for this long is deleted: its process has died on another machine. */
const SILENT_MS = 600_000

/** Claims room for the missing files. Deletes unused models, least recently used first, until they fit. */
export async function reserveRoom(
  directory: CacheDirectory,
  missing: readonly ModelFile[],
  limits: CacheLimits,
  cancellation?: Cancellation,
): Promise<Room> {
  const { root } = directory
  const neededBytes = missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (neededBytes > limits.bytesMax)
    throw new HubError(
      'too_large',
      `The model takes ${gigabytes(neededBytes)} GB, more than the model cache may hold (${gigabytes(limits.bytesMax)} GB).`,
    )
  const claims = join(root, 'claims')
  await makeDirectory(claims)
  const path = join(claims, randomUUID())
  // Under a lock, so that two processes do not claim the same room.
  await withLock(join(root, 'room.lock'), { cancellation }, async () => {
    const present = await presentBytes(directory, missing)
    await makeRoom(directory, neededBytes - present, limits)
    const { modelId, commit } = directory
    const blobs = missing.map((file) => [relative(root, directory.blobOf(file)), file.sizeBytes] as const)
    await writeFile(path, await describeHolder({ modelId, commit, blobs }), { flag: 'wx', mode: 0o600 })
  })
  const beat = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }, BEAT_MS)
  return {
    release: async () => {
      clearInterval(beat)
      await unlink(path).catch(ignoreMissing)
    },
  }
}

async function presentBytes(directory: CacheDirectory, files: readonly ModelFile[]): Promise<number> {
  return (await directory.measure(files)).bytesDone
}

async function makeRoom(directory: CacheDirectory, bytes: number, limits: CacheLimits): Promise<void> {
  const { root, modelId } = directory
  const claims = await readClaims(join(root, 'claims'))
  const claimedBytes = await claimedBytesOf(root, claims)
  const hasRoom = async (): Promise<boolean> => {
    const { bavail, bsize } = await statfs(root)
    const usedBytes = await usedBytesOf(root)
    return (
      usedBytes + claimedBytes + bytes <= limits.bytesMax &&
      bavail * bsize - claimedBytes - bytes >= limits.freeBytesMin
    )
  }
  if (await hasRoom()) return
  // All commits in the directory of a model that is being downloaded are kept, because they share blobs. Two ids can share a
  // directory.
  const busy = new Set([modelId, ...claims.map((claim) => claim.modelId)].map(nameOfModel))
  for (const candidate of await listDeletable(root, busy, limits.listUsed)) {
    await deleteCommit(root, candidate)
    if (await hasRoom()) return
  }
  throw new HubError(
    'no_space',
    `The model cache has no room for another ${gigabytes(bytes)} GB: what it holds is in use.`,
  )
}

interface Claim extends CachedCommit {
  readonly blobs: ReadonlyMap<string, number>
}

async function readClaims(path: string): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const name of await readdir(path)) {
    const file = join(path, name)
    const [text, stat] = [
      await readFile(file, 'utf8').catch(ignoreMissing),
      await lstat(file).catch(ignoreMissing),
    ]
    if (text === null || stat === null) continue
    const isOver = Date.now() - stat.mtimeMs > SILENT_MS || (await isDead(text))
    const claim = isOver ? null : parseClaim(text)
    if (claim === null) await rm(file, { force: true })
    else claims.push(claim)
  }
  return claims
}

function parseClaim(text: string): Claim | null {
  const told: unknown = JSON.parse(text)
  if (!isRecord(told)) return null
  const { modelId, commit, blobs } = told
  if (typeof modelId !== 'string' || typeof commit !== 'string' || !Array.isArray(blobs)) return null
  const entries = blobs.flatMap((one: unknown): [string, number][] =>
    Array.isArray(one) && typeof one[0] === 'string' && typeof one[1] === 'number' ? [[one[0], one[1]]] : [],
  )
  return { modelId, commit, blobs: new Map(entries) }
}

/** Returns the bytes that claimed downloads still have to write. */
async function claimedBytesOf(root: string, claims: readonly Claim[]): Promise<number> {
  const blobs = new Map(claims.flatMap((claim) => [...claim.blobs]))
  let bytes = 0
  for (const [path, sizeBytes] of blobs) {
    const whole = await lstat(join(root, path)).catch(ignoreMissing)
    const part = await lstat(join(root, `${path}.incomplete`)).catch(ignoreMissing)
    bytes += Math.max(0, sizeBytes - (whole?.size ?? part?.size ?? 0))
  }
  return bytes
}

async function usedBytesOf(root: string): Promise<number> {
  let bytes = 0
  for (const model of await listModels(root)) {
    const blobs = join(root, model, 'blobs')
    for (const name of (await readdir(blobs).catch(ignoreMissing)) ?? [])
      bytes += (await lstat(join(blobs, name)).catch(ignoreMissing))?.size ?? 0
  }
  return bytes
}

async function listModels(root: string): Promise<string[]> {
  return (await readdir(root)).filter((name) => name.startsWith('models--'))
}

/** Returns the models that may be deleted, least recently used first. */
async function listDeletable(
  root: string,
  busyDirectories: ReadonlySet<string>,
  listUsed: CacheLimits['listUsed'],
): Promise<CachedCommit[]> {
  if (listUsed === null) return []
  const found: (CachedCommit & { readonly usedAtMs: number })[] = []
  for (const model of await listModels(root)) {
    const used = join(root, model, 'used')
    for (const commit of (await readdir(used).catch(ignoreMissing)) ?? []) {
      const path = join(used, commit)
      const [modelId, stat] = [await readFile(path, 'utf8').catch(ignoreMissing), await lstat(path)]
      if (modelId !== null && isHubId(modelId) && isCommit(commit))
        found.push({ modelId, commit, usedAtMs: stat.mtimeMs })
    }
  }
  const idle = found.filter(({ modelId }) => !busyDirectories.has(nameOfModel(modelId)))
  const inUse = new Set((await listUsed(idle)).map(keyOf))
  return idle.filter((one) => !inUse.has(keyOf(one))).toSorted((one, other) => one.usedAtMs - other.usedAtMs)
}

/** Deletes a snapshot, and the blobs that no other snapshot of the model uses. */
async function deleteCommit(root: string, { modelId, commit }: CachedCommit): Promise<void> {
  const path = join(root, nameOfModel(modelId))
  await rm(join(path, 'snapshots', commit), { recursive: true, force: true })
  await rm(join(path, 'used', commit), { force: true })
  const blobs = join(path, 'blobs')
  for (const name of await readdir(blobs)) {
    const blob = join(blobs, name)
    // Lock files are deleted by their holders.
    if (!name.includes('.lock') && (await lstat(blob)).nlink === 1) await rm(blob, { force: true })
  }
}

function keyOf({ modelId, commit }: CachedCommit): string {
  return `${modelId} ${commit}`
}

function gigabytes(bytes: number): string {
  return (bytes / 1_000_000_000).toFixed(1)
}
