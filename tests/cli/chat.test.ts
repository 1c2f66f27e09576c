import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { createOther } from '../deployments/deploy.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

describe('chat', () => {
  test('streams the answer to the prompt and to what is on stdin', async () => {
    const { code, stdout, stderr } = await home.run(['chat', 'What', 'is', 'this?'], { stdin: 'some text' })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/some text\s+What is this\?/)
    expect(stdout.endsWith('\n')).toBe(true)
  })

  test('refuses a prompt of blanks', async () => {
    const { code, stdout, stderr } = await home.run(['chat', '  \t'])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('There is no prompt.')])
  })

  test('prints exactly the JSON of the API with --json', async () => {
    const { code, stdout } = await home.run(['chat', '--json', '--max-tokens', '20', 'hello'])
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { object: 'chat.completion', usage: {} }])
  })

  test('sends files, images, a system prompt and a schema', async () => {
    const file = join(home.configDirectory, 'notes.txt')
    const image = join(home.configDirectory, 'dot.png')
    await writeFile(file, 'content of the notes')
    await writeFile(image, PNG)
    const schema = JSON.stringify({
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
    })
    const { code, stdout, stderr } = await home.run([
      'chat',
      '-m',
      'gpt-6-luna',
      '-s',
      'Be short.',
      '-f',
      file,
      '-i',
      image,
      '--json-schema',
      schema,
      'Well?',
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({ ok: expect.any(Boolean) })
  })

  test.each([
    [['chat'], 2, 'no prompt'],
    [['chat', '--think', 'hard', 'x'], 2, '--think'],
    [['chat', '--max-tokens', '0', 'x'], 2, '--max-tokens'],
    [['chat', '--file', '/nowhere/x', 'x'], 2, '/nowhere/x'],
    [['chat', '--image', 'a.txt', 'x'], 2, 'a.txt'],
    [['chat', '--json-schema', '{', 'x'], 2, 'not JSON'],
    [['chat', '--nope', 'x'], 2, '--nope'],
    [['chat', '-m', 'no-such-model', 'x'], 4, 'no-such-model'],
    [['chat', '--profile', 'nobody', 'x'], 3, 'nobody'],
  ])('%j ends with %i and says why', async (words, exitCode, reason) => {
    const { code, stdout, stderr } = await home.run(words)
    expect([code, stdout]).toEqual([exitCode, ''])
    expect(stderr).toContain(reason)
  })

  test('ends with 7 if the gateway is away, and with 5 without credit', async () => {
    const away = { PARKWAY_BASE_URL: 'http://127.0.0.1:9', PARKWAY_API_KEY: gateway.key }
    expect((await home.run(['chat', 'x'], { environment: away })).code).toBe(7)
    const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: await createOther(gateway, 0) }
    const broke = await home.run(['chat', 'x'], { environment })
    expect([broke.code, broke.stderr]).toEqual([5, expect.stringContaining('credit')])
  })
})

describe('an answer that ends early', () => {
  let server: Server
  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"delta":{"content":"half an"}}]}\n\n', () => response.destroy())
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterAll(() => void server.close())

  test('is a failure, after what did arrive', async () => {
    const { port } = server.address() as AddressInfo
    const environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'x' }
    const { code, stdout, stderr } = await home.run(['chat', 'x'], { environment })
    expect([code, stdout]).toEqual([1, 'half an\n'])
    expect(stderr).toContain('not complete')
  })
})

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
