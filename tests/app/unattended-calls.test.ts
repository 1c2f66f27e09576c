import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { call, until } from './call.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

const KEY = 'pk-dev-TestTestTestTestTestTestTestTestTestTest'
const VIDEO = 'wan-2.6-t2v'
const LANES = ['gpt-4o-mini', 'gpt-4o']
const PROMPT = 'the-quiet-word'

let workplace: Workplace
let database: TestDatabase

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

const hasEnded = ({ status }: { status: string }) => ['completed', 'failed', 'cancelled'].includes(status)

it('calls that no client waits for are logged and counted like requests', async () => {
  const program = workplace.start(['serve'], {
    environment: {
      DATABASE_URL: database.connectionString,
      PARKWAY_BOOTSTRAP_KEY: KEY,
      PARKWAY_SANDBOX_JOB_MS: '1',
    },
  })
  const { url } = await program.ready()
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, `${url}${path}`, { key: KEY, body })
    expect(answer.status).toBeLessThan(300)
    return answer
  }
  const waitFor = (path: string) =>
    until(async () => {
      const { body } = await send('GET', path)
      return hasEnded(body) ? body : null
    })

  const run = await send('POST', '/v1/compare/runs', { prompts: [PROMPT], models: LANES })
  await waitFor(`/v1/compare/runs/${run.body.id}`)
  const { body: results } = await send('GET', `/v1/compare/runs/${run.body.id}/results`)
  const conversation = await send('POST', '/v1/compare/conversations', { models: LANES })
  const { body: turn } = await send('POST', `/v1/compare/conversations/${conversation.body.id}/turns`, {
    content: PROMPT,
  })
  const queued = await send('POST', '/v1/responses', {
    model: 'gpt-5.4-mini',
    input: PROMPT,
    background: true,
  })
  await waitFor(`/v1/responses/${queued.body.id}`)
  const receipt = await send('POST', '/v1/videos/generations', { model: VIDEO, prompt: PROMPT, duration: 5 })
  await waitFor(`/v1/tasks/${receipt.body.task_id}`)

  const metrics = await until(async () => {
    const { body } = await call('GET', `${url}/metrics`, { key: null })
    return String(body).includes(`route="/v1/tasks",model="${VIDEO}"`) ? String(body) : null
  })
  const expectCount = (route: string, model: string, count: number) => {
    const labels = `route="${route}",model="${model}",provider="sandbox",status="200"`
    expect(metrics).toContain(`parkway_requests_total{${labels}} ${count}`)
  }
  for (const model of LANES) expectCount('/v1/compare', model, 2)
  expectCount('/v1/responses', 'gpt-5.4-mini', 1)
  expectCount('/v1/tasks', VIDEO, 1)

  program.kill('SIGTERM')
  expect(await program.exited).toMatchObject({ code: 0 })
  const lines = program.log.filter(({ msg, method }) => msg === 'request' && method === undefined)
  const shown = { status: 200, provider: 'sandbox', attempts: 1, account_id: expect.any(String) }
  const text = { ...shown, prompt_tokens: expect.any(Number), first_token_ms: expect.any(Number) }
  const cells: { request_id: string }[] = [...results.data, ...turn.replies]
  expect(cells).toHaveLength(4)
  expect(lines).toHaveLength(6)
  for (const { request_id: id } of cells)
    expect(lines).toContainEqual(expect.objectContaining({ ...text, route: '/v1/compare', request_id: id }))
  expect(lines).toContainEqual(
    expect.objectContaining({ ...text, route: '/v1/responses', model: 'gpt-5.4-mini' }),
  )
  expect(lines).toContainEqual(expect.objectContaining({ ...shown, route: '/v1/tasks', model: VIDEO }))
  expect(program.stdout).not.toContain(PROMPT)
})
