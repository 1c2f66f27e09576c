import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { pack, type Pack } from 'tar-stream'

type Header = Parameters<Pack['entry']>[0]

export interface PackedLayer {
  /** Of the tar, which engines call the diff id. */
  readonly sha256: string
  readonly files: number
  readonly bytes: number
}

/** Makes the tar of a layer the same for the same files: in the order of names, with one time, and with owners as numbers. */
export async function digestLayer(layer: string, timeSeconds: number): Promise<PackedLayer> {
  const tar = pack()
  const hash = createHash('sha256')
  const read = (async () => {
    for await (const chunk of tar) hash.update(chunk as Uint8Array)
  })()
  let files = 0
  let bytes = 0
  for (const path of listEntries(layer)) {
    const stats = lstatSync(join(layer, path))
    const isFile = stats.isFile()
    const content = isFile ? readFileSync(join(layer, path)) : Buffer.alloc(0)
    if (isFile) files += 1
    bytes += content.byteLength
    const header = describe(path, stats, { size: content.byteLength, timeSeconds, layer })
    await new Promise<void>((done, fail) => {
      tar.entry(header, content, (error) => (error ? fail(error) : done()))
    })
  }
  tar.finalize()
  await read
  return { sha256: hash.digest('hex'), files, bytes }
}

function describe(
  name: string,
  stats: Stats,
  { size, timeSeconds, layer }: { size: number; timeSeconds: number; layer: string },
): Header {
  const common = {
    name,
    // The mask of whoever builds is not part of the image.
    mode: stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644,
    uid: stats.uid,
    gid: stats.gid,
    mtime: new Date(timeSeconds * 1000),
  }
  if (stats.isDirectory()) return { ...common, type: 'directory' }
  if (stats.isSymbolicLink())
    return { ...common, type: 'symlink', linkname: readlinkSync(join(layer, name)), mode: 0o777 }
  if (stats.isFile()) return { ...common, type: 'file', size }
  throw new Error(`${name} is neither a file, a folder nor a link`)
}

/** All entries of a folder in the order of their bytes, folders before what is in them. */
export function listEntries(root: string): string[] {
  const found: string[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      found.push(path)
      if (entry.isDirectory()) walk(path)
    }
  }
  walk('')
  return found.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}
