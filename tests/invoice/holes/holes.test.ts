import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOLES } from './holes.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

/** `npm run test:holes` takes many minutes. Here it is only made sure that it can still be run. */
describe('the holes that the invoice finds', () => {
  test.each(HOLES)('can be opened again: $name', ({ guards }) => {
    for (const { file, edits } of guards) {
      const text = readFileSync(join(ROOT, file), 'utf8')
      for (const [before] of edits) expect(text.split(before)).toHaveLength(2)
    }
  })
})
