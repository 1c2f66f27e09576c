import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const files = ['src', 'tests']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

const UNSEEDED = /Math\.random\(\)/
/** It chooses a seed and prints it. */
const CHOOSING_SEED = 'tests/invoice/run-long.ts'
/** The name of a test that is no sentence without the name around it. */
const HALF_NAMED = /\b(?:test|it)\(\s*['"](?:that|of|whose|which|by)\s/

/** It fails when a process that was just killed still writes into the directory: `removeDirectory` tries again. */
const REMOVED_ONCE = /\brm\([^)]*recursive: true(?![^)]*maxRetries)/

describe('the tests', () => {
  it('have random numbers that can be repeated', () => {
    const wrong = files.filter(({ path, text }) => isOfTests(path) && UNSEEDED.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([CHOOSING_SEED])
  })

  it('remove directories into which a killed process may still write', () => {
    const wrong = files.filter(({ path, text }) => isOfTests(path) && REMOVED_ONCE.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })

  it('have names that are whole promises', () => {
    const wrong = files.filter(({ path, text }) => path.endsWith('.test.ts') && HALF_NAMED.test(text))
    expect(wrong.map(({ path }) => path)).toEqual([])
  })
})

function isOfTests(path: string): boolean {
  return path.startsWith('tests/') || path.endsWith('.test.ts')
}
