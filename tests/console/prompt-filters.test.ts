import { describe, expect, test } from 'vitest'
import type { CompareCell, CompareRun } from '../../console/src/api/compare.ts'
import { filterPrompts, groupByPrompt } from '../../console/src/pages/compare-run/filter-prompts.ts'

const cell = (prompt: number, lane: string, members: Partial<CompareCell> = {}): CompareCell => ({
  object: 'compare.cell',
  prompt_index: prompt,
  repeat: 0,
  lane_id: lane,
  model: lane,
  status: 'completed',
  turn: 0,
  output: 'same',
  reasoning: null,
  tool_calls: null,
  finish_reason: 'stop',
  usage: null,
  cost_usd: 0,
  latency_ms: 1,
  ttft_ms: 1,
  output_tokens_per_second: null,
  provider: null,
  score: null,
  judge: null,
  error: null,
  request_id: null,
  started_at: null,
  completed_at: null,
  ...members,
})

const lane = (id: string, costUsd: number) => ({ id, stats: { completed: 2, cost_usd: costUsd } })
// Only these members of lanes are read.
const run = { lanes: [lane('cheap', 0.1), lane('dear', 1)] } as unknown as Pick<CompareRun, 'lanes'>
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
