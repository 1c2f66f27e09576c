import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const DIST = join(import.meta.dirname, '../../console/dist')
const SCRIPT_BYTES_MAX = 150 * 1024

test('the first page loads less than 150 KiB of script, compressed', () => {
  const html = readFileSync(join(DIST, 'index.html'), 'utf8')
  const entry = /src="\/(assets\/[^"]+\.js)"/.exec(html)?.[1] ?? ''
  // The page itself is loaded on demand, like all pages.
  const home = new RegExp(String.raw`assets/home-page-[\w-]+\.js`).exec(read(entry))?.[0] ?? ''
  const loaded = closureOf([entry, home])
  const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0)
  expect(loaded).toContain(home)
  expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX)
  expect(bytes).toBeGreaterThan(SCRIPT_BYTES_MAX / 3)
})

/** The files and everything that they import at once. */
function closureOf(names: readonly string[]): Set<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    if (found.has(name)) return
    found.add(name)
    for (const [, imported = ''] of read(name).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g))
      visit(`assets/${imported}`)
  }
  names.forEach(visit)
  return found
}

function read(name: string): string {
  return readFileSync(join(DIST, name), 'utf8')
}
