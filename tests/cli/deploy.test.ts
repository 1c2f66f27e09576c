import type { ChildProcess } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { createOther, deploy, startGpuGateway, waitForStatus } from '../deployments/deploy.ts'
import { eventually } from '../support/eventually.ts'
import { safetensorsFile, startHub } from '../upstreams/hub-server.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const CONFIG = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  num_hidden_layers: 36,
  hidden_size: 4096,
  intermediate_size: 12_288,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  head_dim: 128,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
}
const MISSING = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'

const hub = await startHub({
  'Qwen/Qwen3-8B': {
    info: { cardData: { license: 'apache-2.0' } },
    files: {
      'config.json': CONFIG,
      'tokenizer_config.json': { chat_template: '{{ messages }}' },
      'model.safetensors': safetensorsFile({ a: { dtype: 'BF16', shape: [8_190_735_360] } }),
    },
  },
  'org/empty': { files: {} },
})
afterAll(() => hub.close())
const { gateway, home } = await startGatewayAndHome(() =>
  startGpuGateway({ HF_ENDPOINT: hub.url, PARKWAY_OUTBOUND_ALLOW: hub.cdnHost }),
)

async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const { url = '/', method = 'GET' } = request
  const answer = await gateway.fetch(method, url, body === '' ? {} : { body })
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}

const read = async (path: string) => (await gateway.request('GET', path)).body
const stopAll = async () => {
  for (const { id } of (await read('/v1/deployments?limit=100')).data)
    await gateway.request('DELETE', `/v1/deployments/${id}`)
}

describe('deploy', () => {
  test('makes a deployment with the flags, follows its events until it answers, and it answers', async () => {
    const words =
      'deploy Qwen/Qwen3-8B --tier l40s_48gb --name mine --budget 5 --idle 30 --context 8192 --yes'
    const { code, stdout, stderr } = await home.run(words.split(' '))
    expect([code, stderr]).toEqual([0, expect.stringContaining('apache-2.0')])
    const id = stdout.trim()
    expect(stderr).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}running /m)
    expect(stderr).toContain(`parkway deploy stop ${id}`)
    expect(await read(`/v1/deployments/${id}`)).toMatchObject({
      status: 'running',
      name: 'mine',
      budget_limit_usd: 5,
      idle_timeout_minutes: 30,
      max_model_len: 8192,
    })
    const chat = await home.run(['chat', '-m', `byom-${id}`, '[[sandbox:echo good day]]'])
    expect([chat.code, chat.stdout]).toEqual([0, 'good day\n'])
    await stopAll()
  })

  test('chooses the cheapest tier that fits with --tier auto, and prints the JSON of the API', async () => {
    const made = await home.run([
      'deploy',
      'Qwen/Qwen3-8B',
      '--tier',
      'auto',
      '--yes',
      '--no-follow',
      '--json',
    ])
    const deployment = JSON.parse(made.stdout)
    const { recommended_gpu_tier: tier } = (
      await gateway.request('POST', '/v1/hf/validate', { body: { huggingface_id: 'Qwen/Qwen3-8B' } })
    ).body
    expect([deployment.object, deployment.gpu_tier]).toEqual(['deployment', tier])
    await stopAll()
  })

  test('shows how the model fits on each tier, and asks for one', async () => {
    const { code, stdout, stderr } = await home.run(['deploy', 'Qwen/Qwen3-8B', '--yes'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^l40s_48gb +█+▓+▒+░* +[\d.]+ +[\d.]+ +fits +\d/m)
    expect(stderr).toMatch(/^\S+ +█+.*! .* too small /m)
    expect(stderr).toContain('--tier')
  })

  test('fails with the reason of the engine', async () => {
    const words = 'deploy Qwen/Qwen3-8B --tier l40s_48gb --yes --env SANDBOX_FAILURE=model_unsupported'
    const { code, stdout, stderr } = await home.run(words.split(' '))
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/is error: .*\n {2}See "parkway deploy logs /)
    await stopAll()
  })

  test('leaves the deployment running when it is interrupted, and says how to stop it', async () => {
    const words = 'deploy Qwen/Qwen3-8B --tier l40s_48gb --yes --env SANDBOX_FAILURE=capacity_exhausted'
    let child: ChildProcess | undefined
    const running = home.run(words.split(' '), { onStart: (started) => (child = started) })
    const id = await eventually(async () => {
      const { data } = await read('/v1/deployments')
      const current = data.find(({ status }: { status: string }) => status !== 'deleted')
      expect(current).toBeDefined()
      return current.id
    })
    await new Promise<void>((done) => {
      child?.stderr?.on('data', () => done())
    })
    child?.kill('SIGINT')
    const { code, stderr } = await running
    expect([code, stderr]).toEqual([130, expect.stringContaining(`parkway deploy stop ${id}`)])
    expect((await read(`/v1/deployments/${id}`)).desired_state).toBe('running')
    await stopAll()
  })

  test('says that the deployment goes on if the gateway is away while it is followed', async () => {
    const proxy = createServer((request, response) => {
      if (request.url?.includes('/events') === true) {
        proxy.close()
        proxy.closeAllConnections()
        return
      }
      void passOn(request, response)
    })
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    const { port } = proxy.address() as AddressInfo
    const environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: gateway.key }
    const words = 'deploy Qwen/Qwen3-8B --tier l40s_48gb --yes'.split(' ')
    const { code, stdout, stderr } = await home.run(words, { environment })
    expect([code, stdout]).toEqual([7, ''])
    expect(stderr).toMatch(/keeps running and costs money.*parkway deploy show /)
    await stopAll()
  })

  test('is a wizard in a terminal: model, tier with its memory and price, consent, events', async () => {
    const session = startInTerminal(home, ['deploy'], { columns: 120, rows: 40 })
    await session.waitFor('Which model?')
    session.type(KEY.enter)
    await session.waitFor('Its id on the hub')
    session.type('https://huggingface.co/Qwen/Qwen3-8B/tree/main')
    session.type(KEY.enter)
    await session.waitFor('On which GPU?')
    expect(session.screen()).toMatch(/l40s_48gb +█+▓+▒+░* \$\d+\.\d\d\/h/)
    session.type(KEY.enter)
    await session.waitFor('an hour?')
    session.type('y')
    await session.waitFor('It answers')
    expect(await session.ended()).toBe(0)
    await stopAll()
  })
})

/** Follows until the command ends. `begun` resolves with its first output. */
function follow(name: string, id: string, environment: Record<string, string> = {}) {
  let begun: Promise<void> | undefined
  const ended = home.run(['deploy', name, '-f', id], {
    environment,
    onStart: ({ stdout }) => {
      begun = new Promise((done) => stdout?.once('data', () => done()))
    },
  })
  return { begun, ended }
}

describe('a deployment', () => {
  test('is listed, shown, measured, billed, stopped, started and deleted', async () => {
    const id = await deploy(gateway)
    await waitForStatus(gateway, id, 'running')
    await gateway.request('POST', '/v1/chat/completions', {
      body: { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hi' }] },
    })
    expect((await home.run(['deploy', 'list'])).stdout).toMatch(new RegExp(`^${id} +running +l40s_48gb`, 'm'))
    const listed = await home.run(['deploy', 'list', '--status', 'running', '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject({ id, status: 'running' })
    const shown = JSON.parse((await home.run(['deploy', 'show', `byom-${id}`, '--json'])).stdout)
    expect(shown).toMatchObject({ id, model_id: `byom-${id}` })
    expect((await home.run(['deploy', 'show', id])).stdout).toMatch(/^status +running$/m)
    expect((await home.run(['deploy', 'metrics', id])).stdout).toMatch(/^requests +1, 0 failed +[▁▂-█]+$/m)
    const measured = JSON.parse((await home.run(['deploy', 'metrics', id, '--json'])).stdout)
    expect(Object.keys(measured)).toEqual(Object.keys(await read(`/v1/deployments/${id}/metrics?window=1h`)))
    expect((await home.run(['deploy', 'billing', id])).stdout).toMatch(/^burn rate +\$\d/m)

    expect((await home.run(['deploy', 'stop', id])).stdout).toContain(id)
    await waitForStatus(gateway, id, 'stopped')
    const bill = JSON.parse((await home.run(['deploy', 'billing', id, '--json'])).stdout)
    expect(bill).toEqual(await read(`/v1/deployments/${id}/billing`))
    expect((await home.run(['deploy', 'start', id])).stdout).toContain('is running')
    expect((await home.run(['deploy', 'rm', id])).code).toBe(2)
    expect((await home.run(['deploy', 'rm', '--yes', id])).stdout).toBe(`Deleted ${id}.\n`)
    expect((await home.run(['deploy', 'list'])).stdout).not.toContain(id)
  })

  test('has events and a log, which are followed to their end', async () => {
    const id = await deploy(gateway)
    const [events, logs] = [follow('events', id), follow('logs', id)]
    await Promise.all([events.begun, logs.begun])
    await waitForStatus(gateway, id, 'running')
    const log = await home.run(['deploy', 'logs', id, '--json'])
    expect(JSON.parse(log.stdout)).toEqual(await read(`/v1/deployments/${id}/logs`))
    await gateway.request('DELETE', `/v1/deployments/${id}`)
    expect(await logs.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('launching Qwen/Qwen3-8B'),
    })
    expect(await events.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ running .*\n(.*\n)*.* deleted /),
    })
    const all = await home.run(['deploy', 'events', id, '--json'])
    const { data } = await read(`/v1/deployments/${id}/events?limit=100`)
    expect(
      all.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(data)
  })
})

test('a log that is cut off before its end is a failure with the reason', async () => {
  const id = await deploy(gateway)
  await waitForStatus(gateway, id, 'running')
  const { body: made } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'follower', scopes: ['inference', 'manage'] },
  })
  const environment = { PARKWAY_API_KEY: made.key, PARKWAY_BASE_URL: gateway.baseUrl }
  const logs = follow('logs', id, environment)
  await Promise.race([logs.begun, logs.ended])
  await gateway.request('DELETE', `/v1/tenants/me/api-keys/${made.id}`)
  expect(await logs.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/cut off: .*key/) })
})

test('templates are listed', async () => {
  const { data } = await read('/v1/deployment-templates')
  const { stdout } = await home.run(['deploy', 'templates'])
  expect(stdout).toContain(data[0].huggingface_id)
  expect((await home.run(['deploy', 'templates', '--json'])).stdout.trim().split('\n')).toHaveLength(
    data.length,
  )
})

test.each([
  [['deploy'], 2, 'Name a model'],
  [['deploy', 'https://huggingface.co/datasets/org/empty', '--yes'], 2, 'not the page of a model'],
  [
    ['deploy', 'https://huggingface.co/org/empty?library=x', '--tier', 'auto', '--yes'],
    1,
    'org/empty cannot be deployed',
  ],
  [['deploy', 'org/empty', '--tier', 'auto', '--yes'], 1, 'cannot be deployed'],
  [['deploy', 'Qwen/Qwen3-8B', '--tier', 'nope', '--yes'], 1, 'no such tier'],
  [['deploy', 'Qwen/Qwen3-8B', '--tier', 'l40s_48gb'], 2, '--yes'],
  [
    ['deploy', 'Qwen/Qwen3-8B', '--tier', 'l40s_48gb', '--max-price', '0.01', '--yes'],
    1,
    'more than expected',
  ],
  [['deploy', 'Qwen/Qwen3-8B', '--budget', 'x'], 2, '--budget'],
  [['deploy', 'Qwen/Qwen3-8B', '--context', '0'], 2, '--context'],
  [['deploy', 'Qwen/Qwen3-8B', '--env', 'x'], 2, '--env'],
  [['deploy', 'Qwen/Qwen3-8B', '--use-hf-token'], 2, 'HF_TOKEN'],
  [['deploy', 'show', MISSING], 4, 'deployment'],
  [['deploy', 'stop', MISSING], 4, 'deployment'],
  [['deploy', 'rm', '--yes', MISSING], 4, 'deployment'],
  [['deploy', 'logs', '-f', MISSING], 4, 'deployment'],
  [['deploy', 'events', MISSING], 4, 'deployment'],
])('%j ends with %i and says why', async (words, exitCode, reason) => {
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stdout]).toEqual([exitCode, ''])
  expect(stderr).toContain(reason)
})

test('an account without credit ends with 5', async () => {
  const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway, 0) }
  const words = 'deploy Qwen/Qwen3-8B --tier l40s_48gb --yes'.split(' ')
  expect((await home.run(words, { environment })).code).toBe(5)
})
