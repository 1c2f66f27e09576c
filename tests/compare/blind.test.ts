import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { speakers, startCompareGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS } from './wait-for-run.ts'

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue', 'green'])
  gateway.upstream.respondWith(
    speakers({ red: () => 'from red', blue: () => 'from blue', green: () => 'from green' }),
  )
})

afterAll(() => gateway.close())

const PROMPTS = Array.from({ length: 12 }, (_, index) => `prompt ${index}`)
const make = () =>
  makeRun(gateway, { models: ['red', 'blue', 'green'], prompts: PROMPTS, repeats: 2, blind: true, seed: 5 })
const vote = (runId: string, laneId: string, body: object) =>
  gateway.request('POST', `${RUNS}/${runId}/lanes/${laneId}/winner`, { body })

describe('a blind run', () => {
  test('shows answers without anything that identifies their lane, in a different order in every prompt', async () => {
    const { id, lanes } = await make()
    const cells = await readCells(gateway, id)
    expect(cells).toHaveLength(72)
    const laneIds = new Set(lanes.map((lane: { id: string }) => lane.id))
    for (const cell of cells) {
      expect(laneIds.has(cell.lane_id)).toBe(false)
      expect([
        cell.model,
        cell.provider,
        cell.usage,
        cell.latency_ms,
        cell.ttft_ms,
        cell.cost_usd,
        cell.request_id,
      ]).toEqual(['', null, null, null, null, 0, null])
    }
    // Within a prompt, a lane has the same name in both repeats. The order of the lanes differs between prompts.
    const ofPrompt = (index: number) => cells.filter(({ prompt_index: at }) => at === index)
    const orders = PROMPTS.map((_, index) => {
      const names = new Map(ofPrompt(index).map((cell) => [cell.output, cell.lane_id]))
      expect(names.size).toBe(3)
      for (const cell of ofPrompt(index)) expect(names.get(cell.output)).toBe(cell.lane_id)
      return ofPrompt(index)
        .slice(0, 3)
        .map(({ output }) => output)
        .join()
    })
    expect(new Set(orders).size).toBeGreaterThan(2)
    // The prompts are not secret, and say nothing of lanes.
    const { body: page } = await gateway.request('GET', `${RUNS}/${id}/results?limit=1`)
    expect(page.prompts).toEqual([
      { prompt_index: 0, id: null, text: PROMPTS[0], is_cut: false, judgements: [] },
    ])
    expect(new Set(cells.map((cell) => cell.lane_id)).size).toBe(36)
  })

  test('pages through every cell once', async () => {
    const { id } = await make()
    const seen: string[] = []
    for (let after = ''; ;) {
      const { body } = await gateway.request('GET', `${RUNS}/${id}/results?limit=7${after}`)
      for (const cell of body.data) seen.push(`${cell.prompt_index} ${cell.repeat} ${cell.lane_id}`)
      if (body.next_cursor === null) break
      after = `&after=${body.next_cursor}`
    }
    expect([seen.length, new Set(seen).size]).toEqual([72, 72])
  })

  test('accepts votes by the names of a prompt, and then reveals that prompt', async () => {
    const { id, lanes } = await make()
    const [hidden] = (await readCells(gateway, id, '&prompt_index=4')).filter(
      ({ output }) => output === 'from blue',
    )
    const wrong = await vote(id, hidden.lane_id, { prompt_index: 5 })
    expect(wrong.status).toBe(404)
    const { status, body } = await vote(id, hidden.lane_id, { prompt_index: 4 })
    expect(status).toBe(200)
    expect(body.vote.winner_lane_id).toBe(lanes[1].id)
    expect(body.lanes[1].wins).toBe(1)
    const shown = await readCells(gateway, id, '&prompt_index=4')
    expect(new Set(shown.map((cell) => cell.lane_id))).toEqual(
      new Set(lanes.map((lane: { id: string }) => lane.id)),
    )
    expect(shown.every((cell) => cell.model !== '' && cell.latency_ms !== null)).toBe(true)
    for (const cell of await readCells(gateway, id, '&prompt_index=3')) expect(cell.model).toBe('')
  })

  test('stays hidden from a key that has not voted', async () => {
    const { id } = await make()
    const [cell] = await readCells(gateway, id, '&prompt_index=0')
    await vote(id, cell.lane_id, { prompt_index: 0 })
    const { body: other } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'other' },
    })
    const { body } = await gateway.request('GET', `${RUNS}/${id}/results?prompt_index=0`, { key: other.key })
    for (const hidden of body.data) expect(hidden.model).toBe('')
  })

  test('is also blind in its export, and cannot be sorted by lane', async () => {
    const { id, lanes } = await make()
    for (const format of ['json', 'csv']) {
      const { body } = await gateway.request('GET', `${RUNS}/${id}/export?format=${format}`)
      const cells = typeof body === 'string' ? body : JSON.stringify(body.cells)
      for (const lane of lanes) expect(cells).not.toContain(lane.id)
    }
    const filtered = await gateway.request('GET', `${RUNS}/${id}/results?lane_id=${lanes[0].id}`)
    expect([filtered.status, filtered.body.error.param]).toEqual([400, 'lane_id'])
    await vote(id, lanes[0].id, {})
    const { body } = await gateway.request('GET', `${RUNS}/${id}/results?lane_id=${lanes[0].id}`)
    expect(body.data.every((cell: { model: string }) => cell.model === 'red')).toBe(true)
    expect(body.total).toBe(24)
  })
})
