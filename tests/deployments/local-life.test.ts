import { readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, createOther, deploy, waitForStatus } from './deploy.ts'
import { SCRIPTED } from './local-stage.ts'

let gateway: TestGateway

beforeAll(async () => {
  const tiers = { cpu_local: { count: 4, price_per_hour_usd: 0.5 }, cpu_free: { count: 1 } }
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'local',
      PARKWAY_LOCAL_GPU: JSON.stringify({ ...SCRIPTED, tiers, models_dir: '/nowhere' }),
      PARKWAY_GPU_DRAIN_MS: '1000',
    },
  })
})
afterAll(() => gateway.close())

const ORDER = { gpu_tier: 'cpu_local', huggingface_id: 'acme/tiny' }
const SAID = 'acme/tiny says hello'

/** The processes of scripted engines that serve the model. */
async function findEngines(model: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  // A sandbox has the command of its engine among its own arguments.
  return lines.filter(
    (line) => /^[^\0]*\0[^\0]*scripted-engine\.mjs\0/.test(line) && line.includes(`\0${model}\0`),
  )
}

// oxlint-disable-next-line typescript/no-explicit-any -- events of three wires, of which one member each is looked at
const textOf = (stream: string, pick: (event: Record<string, any>) => string | undefined) =>
  stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => pick(JSON.parse(line.slice('data: '.length))) ?? '')
    .join('')

describe('a deployment on this machine', () => {
  test('is created, streams answers on every API, and leaves no process after a stop', async () => {
    const id = await deploy(gateway, { ...ORDER, max_model_len: 2048 })
    await waitForStatus(gateway, id, 'running')
    const model = `byom-${id}`
    const messages = [{ role: 'user', content: 'Hello!' }]

    const whole = await chatWith(gateway, id)
    expect([whole.status, whole.body.model, whole.body.choices[0].message.content]).toEqual([
      200,
      model,
      SAID,
    ])
    expect(whole.headers.get('x-gateway-provider')).toBe('local')
    const chat = await chatWith(gateway, id, { body: { stream: true } })
    expect(textOf(chat.body, ({ choices }) => choices[0]?.delta.content)).toBe(SAID)
    const message = await gateway.request('POST', '/v1/messages', {
      body: { model, messages, max_tokens: 64, stream: true },
    })
    expect(textOf(message.body, ({ delta }) => delta?.text)).toBe(SAID)
    const response = await gateway.request('POST', '/v1/responses', {
      body: { model, input: 'Hello!', stream: true },
    })
    expect(
      textOf(response.body, ({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')),
    ).toBe(SAID)

    const logs = await gateway.request('GET', `/v1/deployments/${id}/logs`)
    expect(JSON.stringify(logs.body)).toContain('--max-model-len')
    expect(await findEngines('acme/tiny')).toHaveLength(1)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    expect(await findEngines('acme/tiny')).toEqual([])
    const { body: bill } = await gateway.request('GET', `/v1/deployments/${id}/billing`)
    expect(bill.intervals).toHaveLength(1)
  })

  test('cannot be used by other accounts', async () => {
    const id = await deploy(gateway, { ...ORDER, huggingface_id: 'acme/secret', gpu_tier: 'cpu_free' })
    await waitForStatus(gateway, id, 'running')
    const other = await createOther(gateway)
    const { status, body } = await chatWith(gateway, id, { key: other })
    expect([status, body.error.code]).toEqual([404, 'model_not_found'])
    await gateway.request('DELETE', `/v1/deployments/${id}`)
    await eventually(async () => expect(await findEngines('acme/secret')).toEqual([]))
  })

  test('does not follow redirects of its engine, and answers again after a crash', async () => {
    const id = await deploy(gateway, { ...ORDER, huggingface_id: 'acme/wild' })
    await waitForStatus(gateway, id, 'running')
    const say = (content: string) =>
      chatWith(gateway, id, { body: { messages: [{ role: 'user', content }] } })
    expect((await say('redirect')).status).toBe(502)
    expect((await say('crash')).status).toBe(502)
    await eventually(async () => expect((await say('Hello!')).status).toBe(200))
    expect((await gateway.request('GET', `/v1/deployments/${id}`)).body.status).toBe('running')
    await gateway.request('DELETE', `/v1/deployments/${id}`)
    await eventually(async () => expect(await findEngines('acme/wild')).toEqual([]))
  })

  test('fails with the reason and the last lines of its engine', async () => {
    const id = await deploy(gateway, { ...ORDER, env: { SANDBOX_FAILURE: 'model_unsupported' } })
    const failed = await waitForStatus(gateway, id, 'error')
    expect(failed).toMatchObject({
      error_code: 'model_unsupported',
      error_message: expect.stringContaining("unknown model architecture: 'riddle'"),
    })
  })
})
