import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { makeRun, RUNS } from './wait-for-run.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})

afterAll(() => gateway.close())

const models = ['gpt-4o-mini', 'gpt-4o']

test('a finished run has the first answers of each lane beside its summary, with a link to the rest', async () => {
  const prompts = Array.from({ length: 12 }, (_, index) => `[[sandbox:echo answer ${index}]]`)
  const run = await makeRun(gateway, { prompts, models })
  for (const lane of run.lanes) {
    const { completed, answers } = run.results[lane.id]
    expect(completed).toBe(12)
    expect(answers.data.map(({ output }: { output: string }) => output)).toEqual(
      prompts.slice(0, 10).map((_, index) => `answer ${index}`),
    )
    expect(answers.data[0]).toMatchObject({ object: 'compare.cell', lane_id: lane.id, status: 'completed' })
    expect(answers).toMatchObject({ total: 12, has_more: true, next_cursor: expect.any(String) })
    const { body: rest } = await gateway.request('GET', answers.next)
    expect(rest.data.map(({ output }: { output: string }) => output)).toEqual(['answer 10', 'answer 11'])
    expect(rest.has_more).toBe(false)
  }
})

test('long answers shorten the first page, and the link continues after them', async () => {
  const prompts = Array.from({ length: 3 }, () => `[[sandbox:echo ${'long '.repeat(12_000)}]]`)
  const run = await makeRun(gateway, { prompts, models })
  const { answers } = run.results[run.lanes[0].id]
  expect(answers.data).toHaveLength(1)
  const { body: rest } = await gateway.request('GET', answers.next)
  expect(rest.data.map((cell: { prompt_index: number }) => cell.prompt_index)).toEqual([1, 2])
})

test('a blind run, a run in a list and a run that has not ended have no answers', async () => {
  const blind = await makeRun(gateway, { prompts: ['Hi'], models, blind: true })
  const { body: list } = await gateway.request('GET', RUNS)
  const { body: begun } = await gateway.request('POST', RUNS, { body: { prompts: ['Hi'], models } })
  for (const { results } of [blind, begun, ...list.runs])
    for (const { answers } of Object.values<{ answers: unknown }>(results)) expect(answers).toBeNull()
})
