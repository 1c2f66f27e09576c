import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VENDORS } from '../src/providers/vendors.ts'
import { CONSOLE_FLOORS, FLOORS, MODULE_RANKS } from './tidy-floors.ts'

/** Checks the style rules with a test instead of in reviews. */
const ROOT = resolve(import.meta.dirname, '..')
const LINES_MAX = 300
const BANNED_NAMES = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'misc', 'types'])

/** Two files count tokens by the vendor of a model, independent of its provider; one file shows an example. */
const NAMING_VENDORS = new Set([
  'src/modules/chat/estimate/estimate-family.ts',
  'src/modules/embeddings/input-tokens.ts',
  'src/http/reference/openapi-headers.ts',
  // Starts a program that is named after a vendor.
  'src/gpu/kubernetes/write-pod.ts',
])

/** A condition about the name of a model. */
const ASKING_FOR_MODEL =
  /(?:(?:startsWith|endsWith|includes|===) ?\(?['"]|\/\(?\^[^'"\s]{0,6})(?:gpt-|claude-|gemini-|dall-e|whisper-|tts-|llama-|grok-|imagen|veo-|sora)/
/** It chooses the tokenizer of a model, independent of its provider. */
const NAMING_MODELS = new Set(['src/modules/chat/estimate/estimate-profile.ts'])

interface SourceFile {
  readonly path: string
  readonly text: string
  /** Imported files of this project, as paths from the root. */
  readonly imports: readonly string[]
}

const sources = listFiles('src').map(readSource)
const pages = listFiles('console/src').map(readSource)
const everything = [
  ...sources,
  ...pages,
  ...['cli', 'tests', 'bench', 'api-types', 'packaging', 'console/scripts']
    .flatMap(listFiles)
    .filter((path) => !path.includes('/generated/'))
    .map(readSource),
]
const product = sources.filter(({ path }) => !path.endsWith('.test.ts') && !path.includes('/testing/'))

/** A constant with text as its keys, which `lookupTable` or a `Map` makes without the members of `Object.prototype`. */
const PLAIN_TABLE = /^(?:export )?const [A-Z_]+: (?:Readonly|Partial)<Record<string, [^=]+>> = \{/m

/**
 * V8 takes a function that is assigned to a member for a method of a class, and puts it among the old objects at once. One that is
 * made for each request keeps what it knows in memory until the next full garbage collection. Name it first, then assign it.
 */
const OLD_AT_BIRTH = /^\s+[\w.#]+\.#?\w+ (?:\?\?)?= (?:async )?(?:\([^)]*\)|\w+) =>/m

describe('the source code', () => {
  it('has files to check', () => {
    expect(sources.length).toBeGreaterThan(500)
    expect(everything.length).toBeGreaterThan(sources.length)
    expect(product.flatMap(({ imports }) => imports).length).toBeGreaterThan(product.length)
  })

  it('has imports from lower layers only', () => {
    const wrong = product.flatMap(({ path, imports }) =>
      imports.filter((imported) => !isAllowed(path, imported)).map((imported) => `${path} → ${imported}`),
    )
    expect(wrong).toEqual([])
  })

  it('has modules that import each other only through their main file and by rank', () => {
    const wrong = product.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => !isModuleImportAllowed(path, imported))
        .map((imported) => `${path} → ${imported}`),
    )
    expect(wrong).toEqual([])
  })

  it('has adapters that import their contract and no sibling', () => {
    const adapterOf = (path: string) =>
      /^src\/(?:providers\/(ai-sdk|openai-compatible|sandbox|wire-bridges)|(?:payments|gpu)\/([a-z-]+))\//.exec(
        path,
      )?.[0]
    const wrong = product.flatMap(({ path, imports }) =>
      imports
        .filter(
          (imported) => adapterOf(path) && adapterOf(imported) && adapterOf(path) !== adapterOf(imported),
        )
        .map((imported) => `${path} → ${imported}`),
    )
    expect(wrong).toEqual([])
  })

  it('knows vendors only by their descriptors', () => {
    const ids = VENDORS.map(({ id }) => id)
    const naming = product.filter(
      ({ path, text }) =>
        !path.startsWith('src/providers/') &&
        !NAMING_VENDORS.has(path) &&
        ids.some((id) => text.includes(`'${id}'`)),
    )
    expect(naming.map(({ path }) => path)).toEqual([])
  })

  it('knows models only by the catalog and by the descriptors of vendors', () => {
    expect(ASKING_FOR_MODEL.test("model.id.startsWith('gpt-image')")).toBe(true)
    const asking = product.filter(
      ({ path, text }) =>
        !path.startsWith('src/providers/') && !NAMING_MODELS.has(path) && ASKING_FOR_MODEL.test(text),
    )
    expect(asking.map(({ path }) => path)).toEqual([])
  })

  it('looks up text from outside only in tables without a prototype', () => {
    // Texts of the reference are looked up by our own names.
    const tables = product.filter(
      ({ path, text }) => !path.startsWith('src/http/reference/') && PLAIN_TABLE.test(text),
    )
    expect(tables.map(({ path }) => path)).toEqual([])
  })

  it('assigns no function to a member where it is made', () => {
    expect(OLD_AT_BIRTH.test('  exchange.tellRefused = (reason) => {')).toBe(true)
    expect(product.filter(({ text }) => OLD_AT_BIRTH.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('has a client that loads no code of the server', () => {
    const client = listFiles('cli').map(readSource)
    const wrong = client
      .filter(({ path }) => path !== 'cli/program.ts')
      .flatMap(({ path, imports }) =>
        imports.filter((imported) => imported.startsWith('src/')).map((imported) => `${path} → ${imported}`),
      )
    expect(client.length).toBeGreaterThan(20)
    expect(wrong).toEqual([])
  })

  it('has a console whose folders import from lower ones only, and of the gateway nothing but its types', () => {
    const wrong = pages.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => !isConsoleImportAllowed(path, imported))
        .map((imported) => `${path} → ${imported}`),
    )
    expect(pages.length).toBeGreaterThan(50)
    expect(wrong).toEqual([])
  })

  it('has no import cycle', () => {
    expect(findCycle(product)).toBeNull()
    expect(findCycle(everything.filter(({ path }) => path.startsWith('cli/')))).toBeNull()
    // A route loads its page later, so a page may import its route.
    expect(findCycle(pages.map(withoutLazyImports))).toBeNull()
  })

  it('has files short enough to read', () => {
    const long = everything
      .filter(({ text }) => text.split('\n').length > LINES_MAX + 1)
      .map(({ path }) => path)
    expect(long).toEqual([])
  })

  it('has meaningful names, in kebab case', () => {
    const wrong = everything
      .map(({ path }) => path)
      .filter((path) => {
        const name = basename(path).replace(/(\.test|\.d)?\.tsx?$/, '')
        return BANNED_NAMES.has(name) || !/^[a-z0-9]+(-[a-z0-9]+)*(\.config)?$/.test(name)
      })
    expect(wrong).toEqual([])
  })

  it('reads the environment in one place', () => {
    const wrong = product.filter(
      ({ path, text }) => text.includes('process.env') && !path.startsWith('src/app/'),
    )
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('has no notes about later work', () => {
    // The brackets do not change the pattern, but keep this line from matching it.
    const words = /\b(TO[D]O|FIX[M]E|X[X]X)\b/
    expect(everything.filter(({ text }) => words.test(text)).map(({ path }) => path)).toEqual([])
  })
})

function listFiles(directory: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    .map((path) => `${directory}/${path}`)
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return { path, text, imports: importsOf(path, text) }
}

function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...found].map(([, imported = '']) => relative(ROOT, resolve(ROOT, dirname(path), imported)))
}

function withoutLazyImports(file: SourceFile): SourceFile {
  const text = file.text.replaceAll(/import\('[^']+'\)/g, '')
  return { ...file, imports: importsOf(file.path, text) }
}

function floorOf(path: string): string {
  return path.split('/')[1] ?? ''
}

function isAllowed(path: string, imported: string): boolean {
  if (!imported.startsWith('src/')) return floorOf(path) === 'app' && imported === 'package.json'
  const [from, to] = [floorOf(path), floorOf(imported)]
  return from === to || FLOORS[from]?.includes(to) === true
}

function isModuleImportAllowed(path: string, imported: string): boolean {
  const [, floor, module = '', file] = imported.split('/')
  if (floor !== 'modules') return true
  const importer = floorOf(path) === 'modules' ? path.split('/')[2] : undefined
  if (importer === module) return true
  if (file !== `${module}.ts`) return false
  return importer === undefined || rankOf(importer) > rankOf(module)
}

function isConsoleImportAllowed(path: string, imported: string): boolean {
  const [, , from = '', page] = path.split('/')
  const [root, area, to = '', otherPage] = imported.split('/')
  if (imported === 'api-types/generated/gateway-api.ts') return from === 'api'
  if (root !== 'console' || area !== 'src') return false
  if (CONSOLE_FLOORS[from] === undefined) return true
  if (from === to) return from !== 'pages' || page === otherPage
  return CONSOLE_FLOORS[from].includes(to)
}

function rankOf(module: string): number {
  return MODULE_RANKS.findIndex((rank) => rank.includes(module))
}

function findCycle(files: readonly SourceFile[]): string | null {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path].join(' → ')
    if (finished.has(path)) return null
    for (const imported of byPath.get(path)?.imports ?? []) {
      const cycle = visit(imported, [...trail, path])
      if (cycle) return cycle
    }
    finished.add(path)
    return null
  }
  for (const { path } of files) {
    const cycle = visit(path, [])
    if (cycle) return cycle
  }
  return null
}
