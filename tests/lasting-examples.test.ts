import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import catalog from '../src/modules/catalog/catalog.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

test('no example and no default names a model whose vendor has told its end', () => {
  const ending = catalog.models.flatMap((entry: Entry) =>
    entry.retires === undefined && entry.shutdown_at === undefined ? [] : [entry.id],
  )
  expect(ending).toEqual(expect.arrayContaining(['gpt-4o-mini', 'gpt-5-mini', 'tts-1']))
  const texts = [
    'README.md',
    ...filesBelow('docs', '.md'),
    ...['cli', 'console/src', 'src/app', 'src/http', 'deploy', 'packaging'].flatMap((folder) =>
      filesBelow(folder, ''),
    ),
  ]
  const found = texts.flatMap((path) => {
    const words = new Set(namesIn(path).match(/\w[\w.-]*\w/g))
    return ending.filter((id) => words.has(id)).map((id) => `${path}: ${id}`)
  })
  expect(found).toEqual([])
})

interface Entry {
  readonly id: string
  readonly retires?: string
  readonly shutdown_at?: string
}

/** What may be copied from a text. Sentences and tables of a document also tell about models that end. */
function namesIn(path: string): string {
  // The example of a model that ends names one.
  const text = read(path).replaceAll(/^"Deprecation": .*$/gm, '')
  if (!path.endsWith('.md')) return text
  const commands = text.match(/`parkway [^`]*`|`curl [^`]*`/g) ?? []
  return [...(text.match(/^```[^]*?^```/gm) ?? []), ...commands].join('\n')
}

const TEXTS = /\.(?:md|[jt]sx?|json|ya?ml|env|sh|tpl)$/

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && TEXTS.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
}
