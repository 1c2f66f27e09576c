import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderProviders, renderSettings } from './render-settings.ts'

const document = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

it('the documentation lists every setting correctly', () => {
  expect(tablesOf(document)[0]).toBe(renderSettings())
})

it('the documentation lists the variables of every provider', () => {
  expect(tablesOf(document)[1]).toBe(renderProviders())
})

it('every variable in the operations document is a setting', () => {
  const named = [...operations.matchAll(/\b(?:PARKWAY_[A-Z_]+|DATABASE_URL|LOG_LEVEL)\b/g)].map(
    ([name]) => name,
  )
  const known = renderSettings()
  expect(named.filter((name) => !known.includes(`\`${name}\``))).toEqual([])
})

function tablesOf(text: string): string[] {
  return [...text.matchAll(/(?:^\|.*\|$\n?)+/gm)].map(([table]) => table.trimEnd())
}
