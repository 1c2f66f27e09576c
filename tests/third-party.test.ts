import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeThirdParty } from '../packaging/write-third-party.ts'

test('THIRD_PARTY.md lists the licences of all packages that run', () => {
  const written = readFileSync(join(import.meta.dirname, '../THIRD_PARTY.md'), 'utf8')
  expect(written === describeThirdParty(), 'the packages have changed: run "npm run third-party"').toBe(true)
})

test('no package asks for more than to be named, except those that the beginning of THIRD_PARTY.md names', () => {
  const strict = describeThirdParty()
    .split('\n')
    .filter((line) => /^- .*GPL.*: /.test(line) && !line.startsWith('- `'))
    .flatMap((line) => line.replace(/^[^:]*: /, '').split(', '))
  expect(strict.length).toBeGreaterThan(0)
  expect(strict.filter((name) => !name.startsWith('@img/sharp-'))).toEqual([])
})
