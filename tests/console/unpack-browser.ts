import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress } from 'node:zlib'
import { extract } from 'tar-stream'
import { removeDirectory } from '../support/remove-directory.ts'

export interface UnpackedBrowser {
  readonly executablePath: string
  readonly environment: Record<string, string>
}

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/browser')

/**
 * Unpacks the Chromium that npm brought, once for all runs. The package does so in the directory for temporary files, where a
 * second process takes a half-written program for a whole one.
 */
export async function unpackBrowser(): Promise<UnpackedBrowser> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const packed = join(dirname(main), '../bin')
  const directory = `${CACHE}-${await readVersion(join(dirname(main), '../package.json'))}`
  if (!existsSync(directory)) await unpackTo(directory, packed)
  return {
    executablePath: join(directory, 'chromium'),
    environment: {
      FONTCONFIG_FILE: join(directory, 'fonts.conf'),
      LD_LIBRARY_PATH: join(directory, 'al2023/lib'),
    },
  }
}

async function unpackTo(directory: string, packed: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true })
  const unfinished = await mkdtemp(`${directory}-`)
  const program = join(unfinished, 'chromium')
  await pipeline(
    createReadStream(join(packed, 'chromium.br')),
    createBrotliDecompress(),
    async (chunks: AsyncIterable<Buffer>) => writeFile(program, chunks),
  )
  await chmod(program, 0o700)
  // The configuration in the package names directories of another system.
  await writeFile(join(unfinished, 'fonts.conf'), writeFontConfiguration(directory))
  for (const name of ['fonts', 'al2023'])
    await unpackArchive(join(packed, `${name}.tar.br`), join(unfinished, name))
  try {
    await rename(unfinished, directory)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(directory)) throw error
    await removeDirectory(unfinished)
  }
}

function writeFontConfiguration(directory: string): string {
  const directories = [join(directory, 'fonts'), '/usr/share/fonts'].map((path) => `<dir>${path}</dir>`)
  return `<?xml version="1.0"?><fontconfig>${directories.join('')}<cachedir>${directory}/font-cache</cachedir></fontconfig>`
}

async function unpackArchive(archive: string, target: string): Promise<void> {
  const entries = extract()
  const unpacking = pipeline(createReadStream(archive), createBrotliDecompress(), entries)
  for await (const entry of entries) {
    const path = join(target, entry.header.name)
    if (entry.header.type === 'file') {
      await mkdir(dirname(path), { recursive: true })
      await pipeline(entry, createWriteStream(path))
    } else entry.resume()
  }
  await unpacking
}

async function readVersion(path: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(path, 'utf8'))
  return version
}
