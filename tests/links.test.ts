import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

interface Link {
  readonly from: string
  readonly target: string
}

const documents = [
  ...readdirSync(ROOT),
  ...['docs', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ),
].filter((path) => path.endsWith('.md') && !path.includes('node_modules'))

const links = documents.flatMap(listLinks)

it('every relative link of the documents leads to a file', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/keys.md', 'docs/howto/add-a-provider.md']),
  )
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter((link) => !existsSync(pathOf(link))).map(describeLink)).toEqual([])
})

it('every link to a heading leads to an existing heading', () => {
  const wrong = links.filter((link) => {
    const heading = link.target.split('#')[1]
    return heading !== undefined && existsSync(pathOf(link)) && !listHeadings(pathOf(link)).has(heading)
  })
  expect(wrong.map(describeLink)).toEqual([])
})

it('the table of the README has every document', () => {
  const named = new Set(links.filter(({ from }) => from === 'README.md').map(({ target }) => target))
  const missing = readdirSync(join(ROOT, 'docs')).filter(
    (name) => name.endsWith('.md') && !named.has(`docs/${name}`),
  )
  expect(missing).toEqual([])
})

function listLinks(from: string): Link[] {
  const text = readFileSync(join(ROOT, from), 'utf8').replace(/^```[^]*?^```/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => ({ from, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
}

function pathOf({ from, target }: Link): string {
  const [path = ''] = target.split('#')
  return path === '' ? join(ROOT, from) : resolve(ROOT, dirname(from), path)
}

/** Returns the anchors of the headings: lower case, without punctuation, with hyphens for blanks. */
function listHeadings(path: string): Set<string> {
  const headings = readFileSync(path, 'utf8').matchAll(/^#+ +(.*)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function describeLink({ from, target }: Link): string {
  return `${from} → ${target}`
}
