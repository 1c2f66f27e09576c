import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { firstIdAt } from '../../kernel/identifiers.ts'
import { floorHour, HOUR_MS, splitRange, type UsageRange } from './usage-range.ts'

const at = (text: string): number => Date.parse(`2026-11-15T${text}Z`)

test('whole hours have no edges', () => {
  const range = { fromMs: at('10:00:00'), toMs: at('12:00:00') }
  expect(splitRange(range)).toEqual({ hours: range, edges: [] })
})

test('a partial hour at either end is an edge', () => {
  expect(splitRange({ fromMs: at('10:30:00'), toMs: at('13:00:00.001') })).toEqual({
    hours: { fromMs: at('11:00:00'), toMs: at('13:00:00') },
    edges: [
      { fromMs: at('10:30:00'), toMs: at('11:00:00') },
      { fromMs: at('13:00:00'), toMs: at('13:00:00.001') },
    ],
  })
})

test('a range inside an hour, or over one hour border without a whole hour, is read from the records only', () => {
  for (const [from, to] of [
    ['10:10:00', '10:20:00'],
    ['10:10:00', '11:10:00'],
  ] as const) {
    const range = { fromMs: at(from), toMs: at(to) }
    const { hours, edges } = splitRange(range)
    expect(hours.toMs - hours.fromMs).toBe(0)
    expect(edges.reduce((sum, edge) => sum + edge.toMs - edge.fromMs, 0)).toBe(range.toMs - range.fromMs)
  }
})

test('the current hour counts as a whole one for a range that ends now', () => {
  expect(splitRange({ fromMs: at('10:30:00'), toMs: at('12:20:00'), isUntilNow: true })).toEqual({
    hours: { fromMs: at('11:00:00'), toMs: at('13:00:00') },
    edges: [{ fromMs: at('10:30:00'), toMs: at('11:00:00') }],
  })
})

test('every instant of a range is in exactly one part of it, and no other instant is', () => {
  const instant = fc.integer({ min: 0, max: 50 * HOUR_MS })
  fc.assert(
    fc.property(instant, instant, fc.array(instant), (fromMs, toMs, probes) => {
      fc.pre(fromMs < toMs)
      const { hours, edges } = splitRange({ fromMs, toMs })
      expect([hours.fromMs % HOUR_MS, hours.toMs % HOUR_MS]).toEqual([0, 0])
      for (const edge of edges) expect(floorHour(edge.fromMs)).toBe(floorHour(edge.toMs - 1))
      const has = (part: UsageRange, probe: number): boolean => part.fromMs <= probe && probe < part.toMs
      for (const probe of [fromMs - 1, fromMs, toMs - 1, toMs, ...probes]) {
        const count = [hours, ...edges].filter((part) => has(part, probe)).length
        expect(count).toBe(has({ fromMs, toMs }, probe) ? 1 : 0)
      }
    }),
  )
})

test('identifiers sort by their time', () => {
  const ms = at('10:00:00')
  expect(createId(ms - 1) < firstIdAt(ms)).toBe(true)
  expect(createId(ms) > firstIdAt(ms)).toBe(true)
  expect(firstIdAt(-1)).toBe(firstIdAt(0))
})
