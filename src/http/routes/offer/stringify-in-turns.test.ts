import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { stringifyInTurns } from './stringify-in-turns.ts'

test('a document is written as if it were written at once, and in many turns', async () => {
  const item = (index: number) => ({
    name: `${index}`,
    authority: '-----BEGIN-----\n  a\n\nb\n-----END-----\n',
    text: ' - x: # \n y',
    list: [{ a: [], b: [1, { c: null }] }],
  })
  const document = {
    parkway: 1,
    providers: [],
    models: Array.from({ length: 1_000 }, (_, index) => item(index)),
  }
  let turns = 0
  const state = { isWritten: false }
  const written = stringifyInTurns(document).finally(() => {
    state.isWritten = true
  })
  while (!state.isWritten) {
    turns += 1
    await nextTurn()
  }
  expect(await written).toBe(stringify(document, { lineWidth: 0 }))
  expect(turns).toBeGreaterThan(2)
})
