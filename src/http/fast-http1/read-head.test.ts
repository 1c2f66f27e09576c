import { createServer, type IncomingHttpHeaders } from 'node:http'
import { duplexPair } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readHead } from './read-head.ts'

const HEAD = ['POST /v1/chat/completions HTTP/1.1', 'host: x', 'content-length: 2']
const headOf = (...more: string[]) => [...HEAD, ...more].join('\r\n')

describe('the head of a request', () => {
  test('is parsed with lower-case names and trimmed values', () => {
    const text = headOf('Content-Type:application/json', 'X-Empty:', 'X-Text: \t a b\tc \t')
    expect(readHead(text)).toEqual({
      url: '/v1/chat/completions',
      bodyBytes: 2,
      headers: {
        host: 'x',
        'content-length': '2',
        'content-type': 'application/json',
        'x-empty': '',
        'x-text': 'a b\tc',
      },
    })
  })

  test.each(['keep-alive', 'Keep-Alive'])('may ask for the default: connection: %s', (value) => {
    expect(readHead(headOf(`connection: ${value}`))).not.toBeNull()
  })

  test.each([
    ['another method', 'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 0'],
    ['another protocol', 'POST / HTTP/1.0\r\nhost: x\r\ncontent-length: 0'],
    ['the form for proxies', 'POST http://x/ HTTP/1.1\r\nhost: x\r\ncontent-length: 0'],
    ['two spaces', 'POST  / HTTP/1.1\r\nhost: x\r\ncontent-length: 0'],
    ['no host', 'POST / HTTP/1.1\r\ncontent-length: 0'],
    ['no length', 'POST / HTTP/1.1\r\nhost: x'],
    ['chunks', headOf('transfer-encoding: chunked')],
    ['a length twice', headOf('content-length: 2')],
    ['a length in other words', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: +2'],
    ['a length with zeros', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 02'],
    ['lengths in a list', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2, 2'],
    ['a length without end', `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${'9'.repeat(20)}`],
    ['a name twice', headOf('x-one: 1', 'X-One: 2')],
    ['a wish to be asked first', headOf('expect: 100-continue')],
    ['a wish to close', headOf('connection: close')],
    ['several wishes', headOf('connection: keep-alive, upgrade')],
    ['another protocol afterwards', headOf('upgrade: h2c')],
    ['a compressed body', headOf('content-encoding: gzip')],
    ['a space before the colon', headOf('x-one : 1')],
    ['a folded line', headOf('x-one: 1', ' 2')],
    ['a line feed of its own', headOf('x-one: 1\nx-two: 2')],
    ['a carriage return of its own', headOf('x-one: 1\rx-two: 2')],
    ['a zero', headOf('x-one: 1\u0000')],
    ['letters beyond ASCII', headOf('x-one: \u00e9')],
    ['a line without a colon', headOf('x-one')],
    ['an empty name', headOf(': 1')],
    ['an empty line', headOf('', 'x-one: 1')],
  ])('is left to Node if it has %s', (_name, text) => {
    expect(readHead(text)).toBeNull()
  })

  test('is parsed exactly as by Node, or not at all', async () => {
    const name = fc.constantFrom('host', 'Content-Length', 'x-a', 'X-B', 'connection', 'accept', 'cookie', '')
    const value = fc.oneof(
      fc.constantFrom(
        '0',
        '2',
        '02',
        'keep-alive',
        'close',
        ' ',
        'a b',
        'a\tb',
        'a\r',
        'a\nb',
        '\u00e9',
        '\u0000',
      ),
      fc.string({ maxLength: 6 }),
    )
    const field = fc
      .tuple(name, fc.constantFrom(':', ': ', ' :', ':\t', ''), value)
      .map((parts) => parts.join(''))
    const line = fc.constantFrom(
      'POST /a HTTP/1.1',
      'POST /a?b=%20 HTTP/1.1',
      'GET /a HTTP/1.1',
      'POST /a b HTTP/1.1',
    )
    const usual = fc.constantFrom('host: x', 'content-length: 2', 'x-c: 1')
    const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r\n ')
    const head = fc
      .tuple(line, fc.array(fc.oneof(usual, field), { maxLength: 5 }), end)
      .map(([first, fields, separator]) => [first, 'Host: y', 'Content-Length: 2', ...fields].join(separator))
    let read = 0
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          head,
          fc.constant(headOf('x-d: 1')),
          fc.array(field).map((fields) => headOf(...fields)),
        ),
        async (text) => {
          const ours = readHead(text)
          if (ours === null) return
          read += 1
          expect(await readByNode(text, ours.bodyBytes)).toEqual({
            url: ours.url,
            headers: ours.headers,
            bytes: ours.bodyBytes,
          })
        },
      ),
      { numRuns: 2_000 },
    )
    expect(read).toBeGreaterThan(100)
  })
})

/** Sends the same bytes, followed by a body, to Node's server, and returns what it reads. */
async function readByNode(
  head: string,
  bodyBytes: number,
): Promise<{ url?: string | undefined; headers: IncomingHttpHeaders; bytes: number } | Error> {
  const server = createServer()
  const [client, socket] = duplexPair()
  const outcome = new Promise<
    { url?: string | undefined; headers: IncomingHttpHeaders; bytes: number } | Error
  >((resolve) => {
    server.on('clientError', resolve)
    server.on('request', (request) => {
      let bytes = 0
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      request.on('end', () => resolve({ url: request.url, headers: { ...request.headers }, bytes }))
    })
  })
  server.emit('connection', socket)
  client.write(Buffer.from(`${head}\r\n\r\n${'x'.repeat(bodyBytes)}`, 'latin1'))
  const result = await outcome
  client.destroy()
  socket.destroy()
  return result
}
