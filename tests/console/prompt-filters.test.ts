import { describe, expect, test } from 'vitest'
import { filterPrompts, groupByPrompt } from '../../console/src/pages/compare-run/filter-prompts.ts'

const cell = (prompt: number, lane: string, members: object = {}) => ({
  prompt_index: prompt,
  repeat: 0,
  lane_id: lane,
  status: 'completed',
  output: 'same',
  score: null,
  judge: null,
  ...members,
})

const lane = (id: string, costUsd: number) => ({ id, stats: { completed: 2, cost_usd: costUsd } })
const run = { lanes: [lane('cheap', 0.1), lane('dear', 1)] }
const judged = (wins: number, losses: number) => ({ judge: { wins, losses } })

const prompts = groupByPrompt([
  cell(0, 'cheap', { score: 1 }),
  cell(0, 'dear', { score: 1 }),
  cell(1, 'cheap', { score: 0 }),
  cell(1, 'dear', { score: 1 }),
  cell(2, 'cheap', judged(0, 1)),
  cell(2, 'dear', judged(1, 0)),
  cell(3, 'cheap', judged(1, 0)),
  cell(3, 'dear', judged(0, 1)),
  cell(4, 'cheap', { status: 'failed', output: null }),
  cell(4, 'dear'),
  cell(5, 'cheap', { output: 'one' }),
  cell(5, 'dear', { output: 'another' }),
])

describe('the prompts of a run', () => {
  test.each([
    ['all', [0, 1, 2, 3, 4, 5]],
    ['disagree', [1, 2, 3, 5]],
    ['cheap_lost', [1, 2, 4]],
    ['failed', [4]],
  ] as const)('are filtered by %s', (filter, expected) => {
    expect(filterPrompts(prompts, filter, run).map(({ promptIndex }) => promptIndex)).toEqual(expected)
  })
})
