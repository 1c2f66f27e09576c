import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { KEY, startInTerminal } from './in-terminal.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)
const servers: Server[] = []

const UPLOAD_BYTES = 24_000_000
/** More than the buffers of a connection hold, so that the program sees that it has not sent everything. */
const HELD_BACK_BYTES = 12_000_000
const READ_PAUSE_MS = 20

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function startUpstream(listener: RequestListener) {
  const server = createServer((request, response) => {
    // Commands that make something ask for the price of their model first.
    if (request.url?.startsWith('/v1/models/') !== true) return listener(request, response)
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'There is no such model.', code: 'model_not_found' } }))
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'x' }
}

/** Reads an upload slowly until the bar was seen, and the last of it only then, because the program may be slow to draw. */
function readSlowly(request: IncomingMessage, isSeen: () => boolean): void {
  let readBytes = 0
  request.on('data', (piece: Buffer) => {
    readBytes += piece.length
    request.pause()
    const goOn = (): void => {
      if (isSeen() || readBytes < UPLOAD_BYTES - HELD_BACK_BYTES) request.resume()
      else setTimeout(goOn, READ_PAUSE_MS)
    }
    setTimeout(goOn, isSeen() ? 0 : READ_PAUSE_MS)
  })
}

const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`

describe('an answer on a terminal', () => {
  test('cannot write escape sequences, and is not broken within words', async () => {
    const text = `\u001B]0;stolen title\u0007\u001B[2J\u009B31m${'some words '.repeat(12)}end`
    const environment = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const character of text) response.write(event(character))
      response.end('data: [DONE]\n\n')
    })
    const terminal = startInTerminal(home, ['chat', 'x'], { environment, columns: 30 })
    expect(await terminal.ended()).toBe(0)
    expect(terminal.raw()).not.toContain('\u001B]0;')
    expect(terminal.raw()).not.toContain('\u001B[2J')
    const lines = terminal.screen().split('\n')
    expect(lines.length).toBeGreaterThan(4)
    for (const line of lines.slice(1, -1)) expect(line).toMatch(/^(?:(?:some|words) ?)+$/)
  })

  test('an answer on a terminal that is cut keeps what arrived, and ends with 1', async () => {
    const environment = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(event('half an '), () => response.write(event('answer'), () => response.destroy()))
    })
    const terminal = startInTerminal(home, ['chat', 'x'], { environment })
    expect(await terminal.ended()).toBe(1)
    expect(terminal.screen()).toMatch(/^half an answer\nparkway: The answer is not complete/)
  })
})

describe('a file that exists', () => {
  test('is replaced on a terminal only after a question, which comes before anything is ordered', async () => {
    const path = join(home.directory, 'mine.png')
    const make = () => startInTerminal(home, ['image', '-o', 'mine.png', 'A cup'])
    await writeFile(path, 'mine')
    const refused = make()
    await refused.waitFor('mine.png exists. Replace it?')
    refused.type(KEY.enter)
    expect(await refused.ended()).toBe(1)
    expect(await readFile(path, 'utf8')).toBe('mine')
    expect((await gateway.request('GET', '/v1/tasks')).body.data).toHaveLength(0)
    const interrupted = make()
    await interrupted.waitFor('Replace it?')
    interrupted.type(KEY.interrupt)
    expect(await interrupted.ended()).toBe(130)
    const replaced = make()
    await replaced.waitFor('Replace it?')
    replaced.type('y')
    expect(await replaced.ended()).toBe(0)
    expect((await readFile(path)).subarray(1, 4).toString()).toBe('PNG')
  })
})

test('a prompt that is too large for a request is refused before it is sent', async () => {
  const { code, stderr } = await home.run(['chat', 'x'], { stdin: 'x'.repeat(5 * 1024 * 1024) })
  expect([code, stderr]).toEqual([2, expect.stringContaining('4096 KiB')])
})

test('a directory that does not exist is named before anything is paid for', async () => {
  const { code, stderr } = await home.run(['speak', '-o', 'none/a.mp3', 'hello'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('directory does not exist')])
})

test('an upload that takes long shows how far it is, how fast, and how long the rest takes', async () => {
  await writeFile(join(home.directory, 'talk.wav'), Buffer.alloc(UPLOAD_BYTES))
  let isSeen = false
  const environment = await startUpstream((request, response) => {
    readSlowly(request, () => isSeen)
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end('hello')
    })
  })
  const terminal = startInTerminal(home, ['transcribe', '-m', 'x', 'talk.wav'], { environment })
  await terminal.waitFor(/[█░]{24} +\d+ % +talk\.wav, [\d.]+ MB of 24\.0 MB, [\d.]+ [KM]B\/s, \d+ s left/)
  isSeen = true
  expect(await terminal.ended()).toBe(0)
  expect(terminal.screen()).toBe('hello')
})

test('an upload that is sent again after a rate limit begins again at 0 %', async () => {
  await writeFile(join(home.directory, 'talk.wav'), Buffer.alloc(UPLOAD_BYTES))
  let tries = 0
  let isSeen = false
  const environment = await startUpstream((request, response) => {
    tries += 1
    const isLimited = tries === 1
    readSlowly(request, () => isLimited || isSeen)
    request.on('end', () => {
      response.writeHead(isLimited ? 429 : 200, { 'content-type': 'text/plain', 'retry-after': '0' })
      response.end('hello')
    })
  })
  const words = ['transcribe', '-m', 'x', '--wait', 'talk.wav']
  const terminal = startInTerminal(home, words, { environment })
  await terminal.waitFor('Waiting 0 s.')
  await terminal.waitFor(/\n[█░]{24} +\d+ % +talk\.wav/)
  isSeen = true
  expect(await terminal.ended()).toBe(0)
  const [first = '', again = ''] = terminal.raw().split('Waiting 0 s.')
  const shares = (text: string) => [...text.matchAll(/(\d+) %/g)].map(([, share]) => Number(share))
  expect(Math.max(...shares(first), ...shares(again))).toBeLessThanOrEqual(100)
  expect(shares(again)[0]).toBeLessThan(100)
  expect(terminal.screen()).toMatch(/^The gateway answered with status 429\. Waiting 0 s\.\nhello$/)
})

test('a download that takes long shows the same', async () => {
  const bytes = Buffer.alloc(30_000)
  const count = 100
  let isSeen = false
  const environment = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': count * bytes.length })
    // Sends slowly until the bar was seen.
    const send = (left: number): void => {
      if (left === 0) return void response.end()
      response.write(bytes)
      setTimeout(() => send(left - 1), isSeen ? 0 : 60)
    }
    send(count)
  })
  const terminal = startInTerminal(home, ['speak', '-m', 'x', '-o', 'slow.mp3', 'hello'], { environment })
  await terminal.waitFor(/[█░]{24} +\d+ % +slow\.mp3, [\d.]+ [KM]B of 3\.0 MB, [\d.]+ [KM]B\/s, \d+ s left/)
  isSeen = true
  expect(await terminal.ended()).toBe(0)
})

test('Ctrl-C during an order says what it waits for, and a second one leaves at once', async () => {
  const asked = Promise.withResolvers<void>()
  const environment = await startUpstream(() => asked.resolve())
  const terminal = startInTerminal(home, ['image', '-m', 'x', 'A cup'], { environment })
  await asked.promise
  terminal.type(KEY.interrupt)
  await terminal.waitFor('The task is cancelled as soon as the gateway has answered.')
  let code: number | null = null
  void terminal.ended().then((ended) => (code = ended))
  // Very soon after the first it would not count.
  await eventually(() => {
    terminal.type(KEY.interrupt)
    expect(code).toBe(130)
  })
})

test.each([['chat'], ['speak']])(
  '%s ends when a server that is no gateway never ends its answer',
  async (name) => {
    const environment = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('something')
    })
    const { code, stderr } = await home.run([name, '-m', 'x', 'Hello'], { environment })
    expect([code, stderr]).toEqual([7, expect.stringContaining('is not a Parkway gateway')])
  },
)
