import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

test('an install in a checkout links node_modules/.bin/parkway to the launcher, again after the second install', () => {
  const checkout = realpathSync(mkdtempSync(join(tmpdir(), 'parkway-checkout-')))
  try {
    for (const name of ['bin', 'packaging'])
      cpSync(join(ROOT, name), join(checkout, name), { recursive: true })
    for (let installs = 0; installs < 2; installs += 1)
      expect(run([join(checkout, 'packaging/link-program.cjs')])).toBe('')
    // The checkout has no program, which the launcher would start.
    expect(() => run([join(checkout, 'node_modules/.bin/parkway'), '--version'])).toThrow(
      join(checkout, 'dist/cli/main.js'),
    )
  } finally {
    rmSync(checkout, { recursive: true })
  }
})

const run = (words: readonly string[]): string =>
  execFileSync(process.execPath, words, { encoding: 'utf8', stdio: 'pipe' })
