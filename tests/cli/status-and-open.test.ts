import { describe, expect, test } from 'vitest'
import { createOther } from '../deployments/deploy.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

describe('parkway status', () => {
  test('says that the gateway serves, how many models can be called and what is left', async () => {
    const { code, stdout } = await home.run(['status'])
    const { body } = await gateway.request('GET', '/v1/models')
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`^gateway +${gateway.baseUrl}: ok, answered in \\d+ ms$`, 'm'))
    expect(stdout).toMatch(/^balance +\$/m)
    expect(stdout).toMatch(new RegExp(`^models +\\d+ of ${body.data.length} can be called$`, 'm'))
  })

  test('has the answers of the API with --json', async () => {
    const status = JSON.parse((await home.run(['status', '--json'])).stdout)
    expect(status).toMatchObject({ gateway: { status: 'ok', checks: {} }, providers: expect.any(Array) })
    expect(status.account).toEqual((await gateway.request('GET', '/v1/tenants/me')).body)
  })

  test('works with a key that is no operator', async () => {
    const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway) }
    const { code, stdout } = await home.run(['status'], { environment })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^sandbox +\d+ models can be called$/m)])
  })

  test('ends with 7 if nothing answers', async () => {
    const environment = { PARKWAY_BASE_URL: 'http://127.0.0.1:1' }
    expect(await home.run(['status'], { environment })).toMatchObject({ code: 7, stdout: '' })
  })
})

describe('parkway open', () => {
  const open = async (...words: string[]) => home.run(['open', ...words])

  test.each([
    [[], '/'],
    [['tasks'], '/tasks'],
    [['gpt-4o-mini'], '/models/gpt-4o-mini'],
    [['req_01a1e9000fc97effb14cdd4471e0969d'], '/log?request=req_01a1e9000fc97effb14cdd4471e0969d'],
    [
      ['proj_01a1e9000fc97effb14cdd4471e0969d'],
      '/organization/projects/proj_01a1e9000fc97effb14cdd4471e0969d',
    ],
    [['byom-01a1e900-0fc9-7eff-b14c-dd4471e0969d'], '/deployments/01a1e900-0fc9-7eff-b14c-dd4471e0969d'],
  ])('%j is %s', async (words, path) => {
    expect(await open(...words)).toEqual({ code: 0, stdout: `${gateway.baseUrl}${path}\n`, stderr: '' })
  })

  test('an id is looked for among tasks, keys and all else that has a page', async () => {
    const task = (await home.run(['image', '--no-wait', 'A cup'])).stdout.trim()
    expect((await open(task)).stdout).toBe(`${gateway.baseUrl}/tasks?task=${task}\n`)
    const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: {} })
    expect(JSON.parse((await open('--json', key.id)).stdout)).toEqual({
      url: `${gateway.baseUrl}/keys?key=${key.id}`,
    })
    const { headers } = await gateway.request('POST', '/v1/embeddings', {
      body: { model: 'text-embedding-3-small', input: 'tea' },
    })
    const request = headers.get('x-request-id') ?? ''
    const uuid = request.slice(4).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    expect((await open(uuid)).stdout).toBe(`${gateway.baseUrl}/log?request=${request}\n`)
  })

  test.each(['01a1e900-0fc9-7eff-b14c-dd4471e0969d', 'no-such-thing', '../tasks'])(
    '%s is refused, with what can be opened',
    async (word) => {
      const { code, stdout, stderr } = await open(word)
      expect([code, stdout]).toEqual([4, ''])
      expect(stderr).toContain('playground')
    },
  )
})
