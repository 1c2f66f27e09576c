import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startBodiesGateway, type BodiesGateway } from '../request-log/start-bodies-gateway.ts'
import { chunksOf, completion, stream } from '../upstreams/openai-server.ts'
import { createProject, createProjectKey, joinAccount } from '../organization/join-account.ts'
import { createStranger, speakers, startCompareGateway, type Speaker } from './start-compare-gateway.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { makeRun, RUNS } from './wait-for-run.ts'

const DATASETS = '/v1/compare/datasets'

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
type Answer = any

const askedOf = ({ prompts }: Answer): string[] =>
  prompts.map(({ messages }: Answer) => messages.at(-1).content)

describe('a run', () => {
  let gateway: ChatGateway
  let run: Answer
  const make = (body: object, key = gateway.key) => gateway.request('POST', DATASETS, { key, body })
  const promptsOf = async (fromRun: object) => {
    const { status, body } = await make({ from_run: { run_id: run.id, ...fromRun } })
    expect([status, body]).toEqual([201, body])
    return askedOf((await gateway.request('GET', `${DATASETS}/${body.id}`)).body)
  }

  beforeAll(async () => {
    gateway = await startCompareGateway(['red', 'blue', 'broken'])
    const blue: Speaker = ({ messages }) => (messages.at(-1).content === 'two' ? 'wrong' : 'right')
    gateway.upstream.respondWith(speakers({ red: () => 'right', blue }))
    run = await makeRun(gateway, {
      name: 'first',
      lanes: [{ model: 'red' }, { model: 'blue', temperature: 0.5 }],
      prompts: ['one', 'two', 'three'].map((prompt) => ({ prompt, expected: 'right' })),
      scores: [
        { type: 'contains', name: 'has g', value: 'g' },
        { type: 'exact', name: 'is wrong', value: 'wrong' },
      ],
      seed: 1,
    })
  })
  afterAll(() => gateway.close())

  test('gives a dataset of the prompts whose answers failed, have a low score, or lost', async () => {
    expect(await promptsOf({})).toEqual(['two'])
    expect(await promptsOf({ lane_id: run.lanes[1].id })).toEqual(['two'])
    expect(await promptsOf({ which: ['lost'], lane_id: run.lanes[1].id })).toEqual(['two'])
    expect(await promptsOf({ which: ['low_score'], score: 'is wrong' })).toEqual(['one', 'two', 'three'])
    const winner = `${RUNS}/${run.id}/lanes/${run.lanes[0].id}/winner`
    await gateway.request('POST', winner, { body: { prompt_index: 2 } })
    expect(await promptsOf({ which: ['lost'], lane_id: run.lanes[1].id })).toEqual(['two', 'three'])
    const failing = await makeRun(gateway, { models: ['red', 'broken'], prompts: ['four', 'five'] })
    const { body } = await make({ from_run: { run_id: failing.id, which: ['failed'] } })
    expect(body).toMatchObject({ name: 'Failures of red, broken', prompts_total: 2 })
  })

  test.each([
    ['nothing failed', () => ({ which: ['failed'] }), 'from_run'],
    ['it has no such lane', () => ({ lane_id: run.id }), 'from_run.lane_id'],
    ['no lane is named that lost', () => ({ which: ['lost'] }), 'from_run.lane_id'],
    ['it has no such score', () => ({ score: 'none' }), 'from_run.score'],
  ])('gives no dataset if %s', async (_, fromRun, param) => {
    const { status, body } = await make({ from_run: { run_id: run.id, ...fromRun() } })
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('gives nothing of a blind run before the vote, and nothing to another account', async () => {
    const blind = await makeRun(gateway, { models: ['red', 'broken'], prompts: ['six'], blind: true })
    const hidden = await make({ from_run: { run_id: blind.id } })
    expect([hidden.status, hidden.body.error.param]).toEqual([400, 'from_run.run_id'])
    const key = await createStranger(gateway)
    expect((await make({ from_run: { run_id: run.id } }, key)).status).toBe(404)
    const again = await gateway.request('POST', RUNS, { key, body: { run_id: run.id } })
    expect(again.status).toBe(404)
  })

  test('stays in its project when a key of the account repeats it, as does a run of its dataset', async () => {
    const projectId = await createProject(gateway, 'Secret')
    const key = await createProjectKey(gateway, projectId)
    const { body: dataset } = await make({ name: 'kept', prompts: ['seven'] }, key)
    const body = { models: ['red', 'blue'], dataset_id: dataset.id }
    const { body: first } = await gateway.request('POST', RUNS, { key, body })
    const { body: projects } = await gateway.request('GET', '/v1/organization/projects')
    const { id: defaultId } = projects.data.find(({ name }: { name: string }) => name === 'Default')
    const ofDefault = await createProjectKey(gateway, defaultId)
    for (const order of [{ run_id: first.id }, body]) {
      const made = await gateway.request('POST', RUNS, { body: order })
      expect([made.status, made.body.prompts_total]).toEqual([201, 1])
      const at = `${RUNS}/${made.body.id}`
      expect((await gateway.request('GET', at, { key })).status).toBe(200)
      expect((await gateway.request('GET', at, { key: ofDefault })).status).toBe(404)
    }
  })

  test('is repeated with its lanes, scores and prompts, or with others, and compared with the first one', async () => {
    const same = await makeRun(gateway, { run_id: run.id })
    expect(same).toMatchObject({
      models: ['red', 'blue'],
      lanes: [{}, { params: { temperature: 0.5 } }],
      prompts_total: 3,
      dataset_id: null,
    })
    expect(same.scores.map(({ name }: { name: string }) => name)).toEqual(['has g', 'is wrong'])
    const seen: Answer[] = []
    gateway.upstream.respondWith((request) => {
      seen.push(request.body)
      return stream(chunksOf('right'))
    })
    const lanes = [{ model: 'red' }, { model: 'blue', system: 'Be right.' }]
    const changed = await makeRun(gateway, { run_id: run.id, lanes, scores: [] })
    expect(changed.scores).toEqual([])
    const ofBlue = seen.filter(({ model }) => model === 'blue')
    for (const { messages } of ofBlue) expect(messages[0]).toEqual({ role: 'system', content: 'Be right.' })
    const { body: diff } = await gateway.request('GET', `${RUNS}/${changed.id}/diff?against=${run.id}`)
    expect(diff).toMatchObject({ dataset_id: null, lanes: [{ prompts: 3 }, { prompts: 3 }] })
    expect(diff.lanes[1].measures.score.difference).toBeCloseTo(1 / 3, 4)
    const both = await gateway.request('POST', RUNS, { body: { run_id: run.id, prompt: 'x' } })
    expect([both.status, both.body.error.param]).toEqual([400, 'prompts'])
  })
})

describe('the log', () => {
  let gateway: BodiesGateway
  beforeAll(async () => {
    gateway = await startBodiesGateway()
    gateway.upstream.respondWith(async () => completion())
    await gateway.store({ enabled: true })
  })
  afterAll(() => gateway.close())

  const make = (fromLog: object, key?: string) =>
    gateway.request('POST', DATASETS, { body: { name: 'real', from_log: fromLog }, ...(key && { key }) })
  const say = async (content: string, key?: string) => {
    const { requestId } = await gateway.ask({ messages: [{ role: 'user', content }] }, key)
    if (key === undefined) await gateway.readStored(requestId)
    return requestId
  }

  test('gives a dataset of the requests whose bodies are stored, each prompt once and the newest first', async () => {
    await gateway.store({ enabled: false })
    await say('not stored', gateway.key)
    await gateway.store({ enabled: true })
    const first = await say('first')
    for (const content of ['second', 'second', 'a \0 character', 'x'.repeat(20_000)]) await say(content)
    const made = await make({})
    expect([made.status, made.body.prompts_total]).toEqual([201, 2])
    const { body } = await gateway.request('GET', `${DATASETS}/${made.body.id}`)
    expect(askedOf(body)).toEqual(['second', 'first'])
    expect(body.prompts[1].id).toBe(first)
    expect((await make({ limit: 1 })).body.prompts_total).toBe(1)
    const none = await make({ model: 'none' })
    expect([none.status, none.body.error.param]).toEqual([400, 'from_log'])
    const wrong = await make({ limit: 501 })
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'from_log.limit'])
  })

  test('keeps prompts in their project, and gives none to whoever may not read bodies', async () => {
    const [projectId, other] = [await createProject(gateway, 'One'), await createProject(gateway, 'Two')]
    const key = await createProjectKey(gateway, projectId)
    const { requestId } = await gateway.ask({ messages: [{ role: 'user', content: 'of a project' }] }, key)
    await gateway.readStored(requestId)
    const own = await make({}, key)
    expect([own.status, own.body.prompts_total]).toEqual([201, 1])
    // A key of the account takes those of one project, which is Default unless it is named, and the dataset is in that project.
    const named = await make({ project_id: projectId })
    expect(named.body.prompts_total).toBe(1)
    const { body: listed } = await gateway.request('GET', DATASETS, { key })
    expect(listed.data.map(({ id }: { id: string }) => id)).toContain(named.body.id)
    const ofDefault = await make({})
    const { body } = await gateway.request('GET', `${DATASETS}/${ofDefault.body.id}`)
    expect(askedOf(body)).not.toContain('of a project')
    expect((await make({}, await createProjectKey(gateway, other))).status).toBe(400)
    expect((await make({}, await createStranger(gateway))).status).toBe(400)
    const member = await joinAccount(gateway, {
      email: 'mia@example.com',
      role: 'reader',
      projects: [{ id: projectId, role: 'member' }],
    })
    const refused = await member.request('POST', DATASETS, { name: 'x', from_log: {} })
    expect(refused.status).toBe(403)
    const limited = await gateway.createKey(['inference'])
    expect((await make({}, limited.key)).status).toBe(403)
  })
})
