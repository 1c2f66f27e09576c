import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { ContentCoding } from './pick-coding.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** One file of the console in the coding that it is sent in. */
export interface ConsoleFile {
  readonly bytes: Buffer
  readonly coding: ContentCoding
  readonly contentType: string
  /** Of these bytes, so another coding has another tag. */
  readonly tag: string
}

export interface ConsoleFiles {
  /** Returns null if the console has no such file. `name` is a path within the build, such as `assets/index-BxK3.js`. */
  read(name: string, coding: ContentCoding): Promise<ConsoleFile | null>
}

const PAGE = 'index.html'
const LOOK_AGAIN_MS = 1_000
const FILES_MAX = 5_000
const FILE_BYTES_MAX = 16 * 1024 * 1024
const HELD_BYTES_MAX = 64 * 1024 * 1024
const COMPRESSED_BYTES_MIN = 1_024
const SIBLINGS: Readonly<Record<Exclude<ContentCoding, 'identity'>, string>> = { br: '.br', gzip: '.gz' }

/** What has been built, as last seen. */
interface Build {
  /** Changes with every build. */
  readonly stamp: string
  /** Every regular file by its path. Names of requests are only looked up here, so no request leads out of the directory. */
  readonly names: ReadonlySet<string>
}

/** Reads the built console. Files are held in memory, compressed once, and read again after another build. */
export function createConsoleFiles({ directory }: { directory: string }): ConsoleFiles {
  const held = new Map<string, Promise<ConsoleFile>>()
  let heldBytes = 0
  let build: Build | null = null

  const forget = (): void => {
    held.clear()
    heldBytes = 0
  }
  const list = atMostOnceASecond(async () => {
    if (build !== null) build = { ...build, names: await listFiles(directory) }
  })
  const look = atMostOnceASecond(async () => {
    const stamp = await readStamp(directory)
    if (build?.stamp === stamp) return
    forget()
    build = stamp === null ? null : { stamp, names: await listFiles(directory) }
  })
  const hold = (name: string, coding: ContentCoding): Promise<ConsoleFile> => {
    const key = `${coding} ${name}`
    const known = held.get(key)
    if (known !== undefined) return known
    const file = readCoded(
      directory,
      name,
      build?.names.has(name + siblingOf(coding)) ? coding : null,
      coding,
    )
    held.set(key, file)
    file.then(
      ({ bytes }) => {
        if (held.get(key) !== file) return
        heldBytes += bytes.length
        if (heldBytes > HELD_BYTES_MAX) forget()
      },
      () => {
        if (held.get(key) === file) held.delete(key)
      },
    )
    return file
  }

  return {
    async read(name, coding) {
      await look()
      // A build may still have been writing its files when they were listed.
      if (build !== null && !build.names.has(name)) await list()
      if (build?.names.has(name) !== true) return null
      const fitting = COMPRESSIBLE.has(extname(name)) ? coding : 'identity'
      // Another build may have deleted it since.
      return hold(name, fitting).catch(orIfMissing(null))
    },
  }
}

/** Calls that come while the work runs, or within a second after it, share it. */
function atMostOnceASecond(work: () => Promise<void>): () => Promise<void> {
  let endedAtMs = -Infinity
  let running: Promise<void> | null = null
  return async () => {
    if (running === null && performance.now() - endedAtMs < LOOK_AGAIN_MS) return
    running ??= work().finally(() => {
      endedAtMs = performance.now()
      running = null
    })
    await running
  }
}

async function readCoded(
  directory: string,
  name: string,
  /** The coding for which the build has a compressed file. */
  built: ContentCoding | null,
  coding: ContentCoding,
): Promise<ConsoleFile> {
  const path = join(directory, name)
  const contentType = CONTENT_TYPES[extname(name)] ?? 'application/octet-stream'
  const describe = (bytes: Buffer, used: ContentCoding): ConsoleFile => ({
    bytes,
    coding: used,
    contentType,
    tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
  })
  if (built !== null) return describe(await readFile(path + siblingOf(built)), built)
  const bytes = await readFile(path)
  if (coding === 'identity' || bytes.length < COMPRESSED_BYTES_MIN) return describe(bytes, 'identity')
  return describe(await compress(bytes, coding), coding)
}

function siblingOf(coding: ContentCoding): string {
  return coding === 'identity' ? '' : SIBLINGS[coding]
}

/** High enough to matter, and low enough to take milliseconds. */
const BROTLI_QUALITY = 9

function compress(bytes: Buffer, coding: Exclude<ContentCoding, 'identity'>): Promise<Buffer> {
  if (coding === 'gzip') return promisify(gzip)(bytes, { level: 9 })
  return promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
}

/** Returns null if the console is not built. */
async function readStamp(directory: string): Promise<string | null> {
  const found = await stat(join(directory, PAGE)).catch(orIfMissing(null))
  return found === null ? null : `${found.mtimeMs} ${found.size} ${found.ino}`
}

/** Symbolic links are not followed. Files that a build deletes meanwhile are left out. */
async function listFiles(directory: string): Promise<Set<string>> {
  const names = new Set<string>()
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(orIfMissing([]))
  for (const entry of entries) {
    if (!entry.isFile() || names.size >= FILES_MAX) continue
    const path = join(entry.parentPath, entry.name)
    const found = await stat(path).catch(orIfMissing(null))
    if (found !== null && found.size <= FILE_BYTES_MAX)
      names.add(relative(directory, path).split(sep).join('/'))
  }
  return names
}

function orIfMissing<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return value
    throw error
  }
}

const CONTENT_TYPES = lookupTable<string>({
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
})

/** The other kinds are compressed by themselves. */
const COMPRESSIBLE: ReadonlySet<string> = new Set([
  '.css',
  '.html',
  '.js',
  '.json',
  '.map',
  '.mjs',
  '.svg',
  '.txt',
  '.wasm',
  '.webmanifest',
])
