import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listEntries } from './pack-layer.ts'
import type { BuiltImage } from './build-stages.ts'

export interface Sizes {
  readonly imageMegabytes: number
  readonly packagesMegabytes: number
}

const IMAGE_MEGABYTES_MAX = 400
const PACKAGES_MEGABYTES_MAX = 250
const PACKAGES = 'app/node_modules'
/** Files that are read for secrets; larger ones are no keys. */
const READ_BYTES_MAX = 1_000_000
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{64,}/
const SECRET_NAMES =
  /(?:^|\/)(?:\.env(?:\..*)?|\.netrc|\.npmrc|id_[a-z0-9]+|sealing\.key|.*\.(?:pem|p12|pfx))$/
const TEST_NAMES = /(?:\.test\.[cm]?[jt]s|(?:^|\/)testing\/)/

/** Adds up what the files of an image take. */
export function measure({ layers, ownLayer }: BuiltImage): Sizes {
  const sum = (folder: string): number =>
    listEntries(folder).reduce((bytes, path) => {
      const stats = lstatSync(join(folder, path))
      return bytes + (stats.isFile() ? stats.size : 0)
    }, 0)
  const megabytes = (folders: readonly string[]) =>
    Math.round(folders.reduce((bytes, folder) => bytes + sum(folder), 0) / 1e5) / 10
  return {
    imageMegabytes: megabytes(layers),
    packagesMegabytes: megabytes([join(ownLayer, PACKAGES)]),
  }
}

/** Returns what should not be in an image, in words. */
export function findUnwanted(image: BuiltImage, lockfile: string): string[] {
  const { imageMegabytes, packagesMegabytes } = measure(image)
  const problems = [
    ...listSecrets(image.ownLayer),
    ...listDevelopmentPackages(image.ownLayer, lockfile),
    ...listWritable(image),
  ]
  if (imageMegabytes > IMAGE_MEGABYTES_MAX)
    problems.push(`the image has ${imageMegabytes} MB, and at most ${IMAGE_MEGABYTES_MAX} are wanted`)
  if (packagesMegabytes > PACKAGES_MEGABYTES_MAX)
    problems.push(`packages take ${packagesMegabytes} MB, and at most ${PACKAGES_MEGABYTES_MAX} are wanted`)
  return problems
}

function listSecrets(layer: string): string[] {
  const registry = new URL(String(execFileSync('npm', ['config', 'get', 'registry'])).trim()).host
  // The public registry is named in many packages.
  const isOwnRegistry = registry !== 'registry.npmjs.org'
  return listEntries(layer).flatMap((path) => {
    const stats = lstatSync(join(layer, path))
    const isOwn = !path.startsWith(`${PACKAGES}/`)
    if (SECRET_NAMES.test(path) && isOwn) return [`${path} has the name of a secret`]
    if (TEST_NAMES.test(path) && isOwn) return [`${path} is a test`]
    if (!stats.isFile() || stats.size > READ_BYTES_MAX) return []
    const text = readFileSync(join(layer, path), 'latin1')
    if (PRIVATE_KEY.test(text)) return [`${path} has a private key`]
    return isOwnRegistry && text.includes(registry)
      ? [`${path} names the registry of the machine that built it`]
      : []
  })
}

/** The engine for GGUF models is a development package because tests use it, and an optional one for those who run it. */
const WANTED = /(?:^|\/)(?:@?node-llama-cpp)(?:\/|$)/
/** What people compile and test with: none of it may come in by another way. */
const FORBIDDEN = [
  'typescript',
  'vitest',
  'vite',
  'oxlint',
  'oxfmt',
  'knip',
  'playwright-core',
  'react',
  '@duckdb/node-api',
]

function listDevelopmentPackages(layer: string, lockfile: string): string[] {
  const { packages } = JSON.parse(lockfile) as { packages: Record<string, { dev?: boolean; peer?: boolean }> }
  const isInstalled = (path: string) => existsSync(join(layer, 'app', path, 'package.json'))
  const hasEngine = isInstalled('node_modules/node-llama-cpp')
  return Object.entries(packages).flatMap(([path, { dev }]) => {
    const name = path.replace(/^.*node_modules\//, '')
    if (!isInstalled(path)) return []
    if (FORBIDDEN.includes(name)) return [`${path} is a package for development`]
    // With the engine come its own packages, which development has too.
    return dev === true && !WANTED.test(path) && !hasEngine ? [`${path} is a package for development`] : []
  })
}

/** The program must not be able to change itself. */
function listWritable({ ownLayer, settings }: BuiltImage): string[] {
  if (settings.user === '0' || settings.user === 'root') return ['the image runs as root']
  return listEntries(join(ownLayer, 'app')).flatMap((path) => {
    const { uid, mode } = lstatSync(join(ownLayer, 'app', path))
    const isLink = lstatSync(join(ownLayer, 'app', path)).isSymbolicLink()
    return !isLink && (uid !== 0 || (mode & 0o002) !== 0)
      ? [`/app/${path} can be changed by the program`]
      : []
  })
}
