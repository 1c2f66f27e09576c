import { randomUUID } from 'node:crypto'
import { link, lstat, mkdir, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ModelFile } from '../model-file.ts'

export interface CacheProgress {
  readonly bytesDone: number
  readonly bytesTotal: number
}

interface CachedCommit {
  readonly modelId: string
  readonly commit: string
}

/**
 * The directory of one model: `models--<owner>--<name>/blobs` contains the files by checksum, `snapshots/<commit>` the same files
 * by name. The names are hard links, so no link in the cache can point outside it.
 */
export class CacheDirectory {
  readonly root: string
  readonly modelId: string
  readonly commit: string
  /** The directory of the model, with all its commits. */
  readonly path: string
  readonly snapshot: string

  constructor(root: string, { modelId, commit }: CachedCommit) {
    this.root = root
    this.modelId = modelId
    this.commit = commit
    this.path = join(root, nameOfModel(modelId))
    this.snapshot = join(this.path, 'snapshots', commit)
  }

  async prepare(): Promise<void> {
    for (const path of [
      this.path,
      join(this.path, 'blobs'),
      join(this.path, 'used'),
      join(this.path, 'snapshots'),
    ])
      await makeDirectory(path)
  }

  blobOf({ checksum }: ModelFile): string {
    return join(this.path, 'blobs', checksum.hex)
  }

  partOf(file: ModelFile): string {
    return `${this.blobOf(file)}.incomplete`
  }

  lockOf(file: ModelFile): string {
    return `${this.blobOf(file)}.lock`
  }

  /** A blob gets its final name only after its checksum was verified, so comparing the size is enough. */
  async isComplete(file: ModelFile): Promise<boolean> {
    return (await sizeOf(this.blobOf(file))) === file.sizeBytes
  }

  async complete(file: ModelFile): Promise<void> {
    await rename(this.partOf(file), this.blobOf(file))
  }

  /** Returns each missing blob once, even if several files have the same content. */
  async listMissing(files: readonly ModelFile[]): Promise<ModelFile[]> {
    const missing = new Map<string, ModelFile>()
    for (const file of files) if (!(await this.isComplete(file))) missing.set(file.checksum.hex, file)
    return [...missing.values()]
  }

  async bytesOf(file: ModelFile): Promise<number> {
    if (await this.isComplete(file)) return file.sizeBytes
    return Math.min((await sizeOf(this.partOf(file))) ?? 0, file.sizeBytes)
  }

  async measure(files: readonly ModelFile[]): Promise<CacheProgress> {
    let [bytesDone, bytesTotal] = [0, 0]
    for (const file of files) {
      bytesDone += await this.bytesOf(file)
      bytesTotal += file.sizeBytes
    }
    return { bytesDone, bytesTotal }
  }

  /** Links a blob under its file name in the snapshot and returns the path. */
  async link(file: ModelFile): Promise<string> {
    const path = join(this.snapshot, ...file.path.split('/'))
    await this.#makeParents(path)
    const blob = this.blobOf(file)
    const [there, wanted] = [await lstat(path).catch(ignoreMissing), await lstat(blob)]
    if (there !== null && there.isFile() && there.ino === wanted.ino) return path
    if (there !== null) await rm(path, { recursive: true })
    await link(blob, path).catch(async (error: unknown) => {
      // Another process created the same link.
      if (!hasCode(error, 'EEXIST') || (await lstat(path)).ino !== wanted.ino) throw error
    })
    return path
  }

  async #makeParents(path: string): Promise<void> {
    const parents: string[] = []
    for (let parent = dirname(path); parent !== dirname(this.snapshot); parent = dirname(parent))
      parents.unshift(parent)
    for (const parent of parents) await makeDirectory(parent)
  }

  /** Records that the model is used now. */
  async touch(): Promise<void> {
    const path = join(this.path, 'used', this.commit)
    const now = new Date()
    await utimes(path, now, now).catch(async (error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error
      // The file contains the model id, because two ids can share a directory. It is never half of it, because a model with
      // an unknown id is never deleted.
      const draft = `${path}.${randomUUID()}`
      try {
        await writeFile(draft, this.modelId, { mode: 0o600 })
        await rename(draft, path)
      } catch (cause) {
        await rm(draft, { force: true })
        throw cause
      }
    })
  }
}

export function nameOfModel(modelId: string): string {
  return `models--${modelId.replace('/', '--')}`
}

/** Creates the directory if it is missing. Throws if the path is something else, such as a symbolic link. */
export async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a directory`)
}

/** Returns null if the file is missing. Deletes a symbolic link or anything else that is not a regular file. */
async function sizeOf(path: string): Promise<number | null> {
  const there = await lstat(path).catch(ignoreMissing)
  if (there === null) return null
  if (there.isFile()) return there.size
  await unlink(path)
  return null
}

export function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT')
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

export function ignoreMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}
