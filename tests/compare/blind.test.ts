import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { joinAccount, type Person } from '../organization/join-account.ts'
import { createStranger, speakers, startCompareGateway } from './start-compare-gateway.ts'
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

describe('people who vote on a blind run', () => {
  const join = (name: string, role = 'owner') =>
    joinAccount(gateway, { email: `${name}@example.com`, name, role })
  const findAnswer = async (person: Person, runId: string, promptIndex: number, output: string) => {
    const { body } = await person.request('GET', `${RUNS}/${runId}/results?prompt_index=${promptIndex}`)
    return body.data.find((cell: { output: string }) => cell.output === output).lane_id
  }
  const voteFor = async (person: Person, runId: string, promptIndex: number, output: string) => {
    const laneId = await findAnswer(person, runId, promptIndex, output)
    return person.request('POST', `${RUNS}/${runId}/lanes/${laneId}/winner`, { prompt_index: promptIndex })
  }
  const read = async (person: Person, path: string) => (await person.request('GET', path)).body

  test('do not see the votes of others before their own, and their agreement is shown', async () => {
    const [ada, bob] = [await join('ada'), await join('bob')]
    const { id, lanes } = await makeRun(gateway, {
      models: ['red', 'blue', 'green'],
      prompts: PROMPTS.slice(0, 3),
      blind: true,
    })
    const [red] = lanes
    for (const [index, output] of ['from red', 'from blue', 'from green'].entries())
      expect((await voteFor(ada, id, index, output)).status).toBe(200)
    expect((await voteFor(bob, id, 0, 'from red')).body.lanes.map(({ wins }: typeof red) => wins)).toEqual([
      1, 0, 0,
    ])

    const ofBob = await read(bob, `${RUNS}/${id}`)
    expect([ofBob.seed, ofBob.winner_lane_id, ofBob.lanes[1].stats.completed]).toEqual([null, null, 0])
    const before = await read(bob, `${RUNS}/${id}/verdict`)
    expect(before.votes.total).toBe(2)
    expect(before.agreement).toEqual({ voters: 2, shared: 1, equal_share: 1, krippendorff_alpha: null })
    for (const filter of [`run_id=${id}`, 'since=2020-01-01T00:00:00Z'])
      expect((await read(bob, `/v1/compare/leaderboard?${filter}`)).votes.total).toBe(2)
    const listed = await read(bob, `${RUNS}/${id}/votes`)
    expect(listed.total).toBe(2)
    expect(listed.votes).toMatchObject([
      { prompt_index: 0, winner_lane_id: red.id, is_own: true },
      { prompt_index: 0, winner_lane_id: red.id, is_own: false },
    ])

    await voteFor(bob, id, 1, 'from blue')
    const { body: last } = await voteFor(bob, id, 2, 'from blue')
    expect(last.lanes.map(({ wins }: typeof red) => wins)).toEqual([2, 3, 1])
    expect(last.seed).toEqual(expect.any(Number))
    const after = await read(bob, `${RUNS}/${id}/verdict`)
    expect(after.votes.total).toBe(6)
    // Three units of two values: a a, b b, c b.
    expect(after.agreement).toEqual({ voters: 2, shared: 3, equal_share: 0.6667, krippendorff_alpha: 0.5455 })
    const page = await read(bob, `${RUNS}/${id}/votes?limit=4`)
    const rest = await read(bob, `${RUNS}/${id}/votes?limit=4&after=${page.next_cursor}`)
    expect([page.total, page.data.length, rest.data.length, rest.has_more]).toEqual([6, 4, 2, false])
  })

  test('have one vote on each prompt, with a session and with every key of theirs', async () => {
    const eve = await join('eve')
    const { body: made } = await eve.request('POST', '/v1/tenants/me/api-keys', { name: 'hers' })
    const { id, lanes } = await make()
    await voteFor(eve, id, 0, 'from red')
    const hers = await gateway.request('POST', `${RUNS}/${id}/lanes/${lanes[2].id}/winner`, {
      key: made.key,
      body: { prompt_index: 0 },
    })
    expect(hers.body.lanes.map(({ wins }: { wins: number }) => wins)).toEqual([0, 0, 1])
    const { body: votes } = await eve.request('GET', `${RUNS}/${id}/votes`)
    expect(votes.data).toMatchObject([{ winner_lane_id: lanes[2].id, is_own: true }])
    await voteFor(eve, id, 0, 'from blue')
    const seen = await gateway.request('GET', `${RUNS}/${id}/verdict`, { key: made.key })
    expect(seen.body).toMatchObject({ votes: { total: 1 }, agreement: { voters: 1, shared: 0 } })
  })

  test('need the right to vote, and find no run of another account', async () => {
    const { id, lanes } = await make()
    const path = `${RUNS}/${id}/lanes/${lanes[0].id}/winner`
    const reader = await join('rita', 'reader')
    expect((await reader.request('POST', path, { prompt_index: 0 })).status).toBe(403)
    const { body: limited } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'manages only', scopes: ['manage'] },
    })
    expect((await gateway.request('POST', path, { key: limited.key, body: {} })).status).toBe(403)
    const stranger = await createStranger(gateway)
    for (const [method, of] of [
      ['POST', path],
      ['GET', `${RUNS}/${id}/votes`],
      ['GET', `${RUNS}/${id}/verdict`],
    ])
      expect((await gateway.request(method ?? '', of ?? '', { key: stranger })).status).toBe(404)
  })
})
