import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createHome } from './run-parkway.ts'

const home = await createHome()
afterAll(() => home.remove())
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function startServer(listener: RequestListener) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => listener(request, response))
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'pk-secret' }
}

const answerWith =
  (status: number, type: string, body: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type })
    response.end(body)
  }
const PAGE = '<!doctype html><html><body>Welcome to nginx!</body></html>'
const RECORDING = join(home.directory, 'talk.wav')
await writeFile(RECORDING, Buffer.alloc(100))

/** A command for each way to read an answer: JSON of a list and of one thing, a task, a stream, text, and a file. */
const COMMANDS = [
  ['models'],
  ['keys'],
  ['whoami'],
  ['image', '-m', 'x', 'A tree'],
  ['chat', 'Hello'],
  ['chat', '--json', 'Hello'],
  ['transcribe', '-m', 'x', RECORDING],
  ['speak', '-m', 'x', '-o', 'never.mp3', 'Hello'],
]

describe('another server than a gateway is named, and nothing of it is taken for an answer', () => {
  test.each([
    ['a page', answerWith(200, 'text/html; charset=utf-8', PAGE)],
    ['a page that says 404', answerWith(404, 'text/html', PAGE)],
  ])('if it sends %s', async (_, listener) => {
    const environment = await startServer(listener)
    for (const words of COMMANDS) {
      const { code, stdout, stderr } = await home.run(words, { environment })
      expect([words, code, stdout]).toEqual([words, 7, ''])
      expect(stderr).toContain(`What answers at ${environment.PARKWAY_BASE_URL} is not a Parkway gateway: `)
      expect(stderr).toContain('\n  Check the address of the profile (parkway profiles).\n')
    }
    expect(existsSync(join(home.directory, 'never.mp3'))).toBe(false)
  })

  test.each([
    ['nothing', answerWith(200, 'application/json', '')],
    ['null', answerWith(200, 'application/json', 'null')],
    ['an empty object', answerWith(200, 'application/json', '{}')],
    ['no content', answerWith(204, 'application/json', '')],
  ])('if it sends %s', async (_, listener) => {
    const environment = await startServer(listener)
    for (const words of COMMANDS.filter(([name]) => name !== 'transcribe' && name !== 'chat')) {
      const { code, stderr } = await home.run(words, { environment })
      expect([words, [1, 7].includes(code ?? 0)]).toEqual([words, true])
      expect(stderr).toMatch(/Parkway gateway/)
    }
    expect(existsSync(join(home.directory, 'never.mp3'))).toBe(false)
  })
})

test.each([502, 503, 504])(
  'a proxy that answers %i itself means that the gateway is away',
  async (status) => {
    const environment = await startServer(answerWith(status, 'text/html', PAGE))
    for (const words of COMMANDS) {
      const { code, stderr } = await home.run(words, { environment })
      expect([words, code, stderr]).toEqual([
        words,
        7,
        expect.stringContaining(`is away: the server before it`),
      ])
    }
  },
)

test('a redirect is not followed with the key, and its address is named', async () => {
  const seen: (string | undefined)[] = []
  const other = await startServer((request, response) => {
    seen.push(request.headers.authorization)
    response.end('{}')
  })
  const environment = await startServer((_, response) =>
    response.writeHead(307, { location: `${other.PARKWAY_BASE_URL}/v1` }).end(),
  )
  for (const words of COMMANDS) {
    const { code, stderr } = await home.run(words, { environment })
    expect([words, code, stderr]).toEqual([
      words,
      7,
      expect.stringContaining(`parkway login --url ${other.PARKWAY_BASE_URL}`),
    ])
  }
  expect(seen).toEqual([])
})

test('an answer that is cut is named as such', async () => {
  const environment = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': 1_000 })
    response.write('half', () => setImmediate(() => response.destroy()))
  })
  for (const words of COMMANDS.filter(([name]) => name !== 'chat')) {
    const { code, stderr } = await home.run(words, { environment })
    expect([words, code, stderr]).toEqual([words, 7, expect.stringMatching(/cut|does not answer/)])
  }
})

test('the reason of a server that writes it as text is told', async () => {
  const environment = await startServer(answerWith(400, 'application/json', '{"error":"no such route"}'))
  const { code, stderr } = await home.run(['models'], { environment })
  expect([code, stderr]).toEqual([1, 'parkway: no such route\n'])
})

describe('a file that cannot be read', () => {
  test.each([
    [['transcribe', '-m', 'x', '.'], '"." is not a file.'],
    [['transcribe', '-m', 'x', 'none.wav'], '"none.wav" cannot be read: there is no such file.'],
    [['upscale', 'none.png'], '"none.png" cannot be read: there is no such file.'],
    [['embed', '-m', 'x', '-f', '.'], '"." cannot be read: it is a directory.'],
    [['chat', '-f', 'none.txt', 'x'], '"none.txt" cannot be read: there is no such file.'],
    [['chat', '--json-schema', 'none.json', 'x'], '"none.json" cannot be read: there is no such file.'],
  ])('%j says %s', async (words, sentence) => {
    const environment = { PARKWAY_BASE_URL: 'http://127.0.0.1:9', PARKWAY_API_KEY: 'x' }
    const { code, stderr } = await home.run(words, { environment })
    expect([code, stderr]).toEqual([2, `parkway: ${sentence}\n`])
  })
})
