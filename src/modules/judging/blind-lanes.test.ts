import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blindLaneId, createBlindView, findLane, presentBlind } from './blind-lanes.ts'

const lanes = ['a', 'b', 'c', 'd'].map((letter) => ({ id: `00000000-0000-7000-8000-00000000000${letter}` }))
const blindRun = (key: number) => ({ isBlind: true, aliasKey: String(key), lanes, promptsTotal: 2 })
const cellOf = (laneId: string, promptIndex = 0) => ({
  promptIndex,
  laneId,
  lanePosition: lanes.findIndex(({ id }) => id === laneId),
  requestId: 'req_1',
  costNanoUsd: 5n,
  usage: {},
  latencyMs: 1,
  ttftMs: 1,
  model: 'm',
  provider: 'p',
  reasoning: 'hm',
  error: { code: 'timeout', message: "The provider 'p' did not answer in time." },
  judge: {},
  score: 1,
  scores: {},
  startedAt: new Date(0),
  completedAt: new Date(0),
  output: 'kept',
})
const HIDDEN = { isAll: false, prompts: new Set<number>(), ownWins: new Map() }

describe('lanes of a blind run', () => {
  test('are found by their name in a prompt, and only in that prompt', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 1_000 }), fc.nat({ max: 3 }), (seed, prompt, position) => {
        const run = blindRun(seed)
        const { id } = lanes[position] ?? { id: '' }
        const name = blindLaneId(run, prompt, id)
        expect(findLane(run, prompt, name)).toBe(id)
        expect(findLane(run, prompt + 1, name)).toBeNull()
        expect(findLane(run, null, name)).toBeNull()
        expect(findLane({ ...run, isBlind: false }, prompt, name)).toBeNull()
        expect(findLane(run, null, id.toUpperCase())).toBe(id)
      }),
    )
  })

  test('have positions that do not identify them', () => {
    const places = lanes.map(() => [0, 0, 0, 0])
    for (let prompt = 0; prompt < 4_000; prompt += 1) {
      for (const [index, { id }] of lanes.entries()) {
        const { lanePosition } = presentBlind(blindRun(7), cellOf(id, prompt), HIDDEN)
        const row = places[index] ?? []
        row[lanePosition] = (row[lanePosition] ?? 0) + 1
      }
    }
    for (const count of places.flat()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
  })

  test('keep their answers, and are revealed where the voter has voted', () => {
    const run = blindRun(1)
    const cell = cellOf(lanes[0]?.id ?? '')
    const shown = presentBlind(run, cell, HIDDEN)
    expect(shown).toMatchObject({
      output: 'kept',
      model: null,
      provider: null,
      costNanoUsd: 0n,
      latencyMs: null,
      score: null,
      scores: null,
      error: { code: 'timeout', message: expect.not.stringContaining("'p'") },
    })
    expect(shown.laneId).not.toBe(cell.laneId)
    expect(presentBlind(run, cell, { ...HIDDEN, prompts: new Set([0]) })).toBe(cell)
    expect(presentBlind(run, cell, { ...HIDDEN, isAll: true })).toBe(cell)
    expect(presentBlind({ ...run, isBlind: false }, cell, HIDDEN)).toBe(cell)
    const { id } = lanes[0] ?? { id: '' }
    const view = createBlindView(run, { isAll: false, prompts: new Set([3]), ownWins: new Map([[id, 2]]) })
    expect([view.isHidden(), view.isHidden(3), view.isHidden(4)]).toEqual([true, false, true])
    const counts = { completed: 1, failed: 1, costNanoUsd: 5n, promptTokens: 1, completionTokens: 2 }
    const untold = { completed: 0, failed: 0, costNanoUsd: 0n, promptTokens: 0, completionTokens: 0 }
    const lane = { id, ...counts, stats: { score: 1 }, wins: 5 }
    expect(view.presentLane(lane)).toEqual({ id, ...untold, stats: null, wins: 2 })
    const shownRun = createBlindView(run, { ...HIDDEN, prompts: new Set([0, 1]) })
    expect(shownRun.presentLane(lane)).toBe(lane)
    expect(shownRun.isHidden()).toBe(false)
  })
})
