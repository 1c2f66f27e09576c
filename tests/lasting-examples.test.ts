import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** They list models with their ends, or quote what vendors count. */
const LISTS = ['docs/catalog.md', 'docs/pricing.md']

test('no example and no default names a model whose vendor has told its end', () => {
  const { models } = JSON.parse(read('src/modules/catalog/catalog.json'))
  const ending = models.flatMap(({ id, retires }: { id: string; retires?: string }) =>
    retires === undefined ? [] : [id],
  )
  // Its end is told (docs/catalog.md), and the specification lists it without a successor.
  ending.push('gpt-4o-mini')
  expect(ending.length).toBeGreaterThan(1)
  const texts = [
    'README.md',
    ...filesBelow('docs', '.md'),
    ...filesBelow('cli', '.ts'),
    ...filesBelow('src/app', '.ts'),
  ]
  const found = texts.flatMap((path) => {
    if (LISTS.includes(path) || path.endsWith('.test.ts')) return []
    const words = new Set(read(path).match(/[\w][\w.-]*\w/g))
    return ending.filter((id: string) => words.has(id)).map((id: string) => `${path}: ${id}`)
  })
  expect(found).toEqual([])
})

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
}
