import { describe, expect, test } from 'vitest'
import { readAnswer, split, type ReadAnswer } from './testing/read-answers.ts'

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

const ANSWERS: [string, string, Partial<ReadAnswer>][] = [
  [
    'with a length',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"hello":"x"}',
    {
      status: 200,
      body: '{"hello":"x"}',
      outcome: 'clean',
      headers: { 'content-type': 'application/json' },
    },
  ],
  [
    'without a reason',
    'HTTP/1.1 429\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nno',
    { status: 429, body: 'no' },
  ],
  ['that is empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', { body: '', outcome: 'clean' }],
  [
    'in chunks',
    `${CHUNKED}5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n`,
    { body: 'hello, world', outcome: 'clean' },
  ],
  [
    'in chunks with extensions and a trailer',
    `${CHUNKED}a;name=value;other="quoted; text"\r\n0123456789\r\n00F\r\n0123456789abcde\r\n0;last\r\nExpires: never\r\nX: \r\n\r\n`,
    { body: '01234567890123456789abcde', outcome: 'clean' },
  ],
  ['in chunks that are none', `${CHUNKED}0\r\n\r\n`, { body: '', outcome: 'clean' }],
  [
    'up to the end of the connection',
    'HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello',
    { body: 'hello', outcome: 'closed' },
  ],
  [
    'of HTTP/1.0',
    'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi',
    { body: 'hi', keepAliveMs: 0, outcome: 'clean' },
  ],
  [
    'after others that are none yet',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nhi',
    { status: 201, body: 'hi', outcome: 'clean' },
  ],
  ['204, which has no body', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', outcome: 'clean' }],
  [
    '304, whose length is that of something else',
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
    { status: 304, body: '', outcome: 'clean' },
  ],
  [
    'with odd headers',
    'HTTP/1.1 429 \xe9\r\nRETRY-AFTER: \t 7 \t\r\nEmpty:\r\nconstructor: x\r\n__proto__: y\r\nContent-Type:\xe9 x\r\ncontent-length: 2\r\n\r\nhi',
    { headers: { 'retry-after': '7', 'content-type': '\xe9 x' } },
  ],
  [
    'with repeated headers',
    'HTTP/1.1 200 OK\r\nContent-Type: a\r\ncontent-type: b\r\nretry-after:\r\nCONTENT-TYPE: c\r\ncontent-length: 2\r\n\r\nhi',
    { headers: { 'content-type': ['a', 'b', 'c'], 'retry-after': '' } },
  ],
]

describe('an answer', () => {
  test.each(ANSWERS)('%s is parsed, however its bytes are split', (_name, text, expected) => {
    const bytes = Buffer.from(text, 'latin1')
    const { pieces: _, ...whole } = readAnswer([bytes])
    expect(whole).toMatchObject(expected)
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(readAnswer([bytes.subarray(0, at), bytes.subarray(at)])).toMatchObject(whole)
    }
    expect(readAnswer(split(bytes))).toMatchObject(whole)
  })

  test.each(ANSWERS)(
    '%s is cut or closed when the connection ends before it does',
    (_name, text, expected) => {
      const bytes = Buffer.from(text, 'latin1')
      const headEnd = text.lastIndexOf('\r\n\r\n', text.length - (expected.outcome === 'closed' ? 0 : 5)) + 4
      for (let at = 0; at < bytes.length; at += 1) {
        const { outcome } = readAnswer([bytes.subarray(0, at)])
        expect([at, outcome]).toEqual([at, expected.outcome === 'closed' && at >= headEnd ? 'closed' : 'cut'])
      }
    },
  )

  test.each(ANSWERS.filter(([, , { outcome }]) => outcome === 'clean'))(
    '%s is parsed if data follows it, and reports that',
    (_name, text, expected) => {
      const bytes = Buffer.from(`${text}HTTP/1.1 200 OK\r\n\r\n`, 'latin1')
      expect(readAnswer([bytes])).toMatchObject({ ...expected, outcome: 'followed' })
    },
  )

  test('an answer that is complete is one piece, and so is a short one in many reads', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello')
    expect(readAnswer([bytes]).pieces).toBe(1)
    expect(readAnswer(split(bytes)).pieces).toBe(1)
  })

  test('an answer of many chunks in one read is one piece', () => {
    const bytes = Buffer.from(`${CHUNKED}${'3\r\nabc\r\n'.repeat(100)}0\r\n\r\n`)
    expect(readAnswer([bytes])).toMatchObject({ pieces: 1, body: 'abc'.repeat(100) })
  })

  test('an answer of events is returned as it arrives, even if its length is known', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 4\r\n\r\nabcd',
    )
    expect(readAnswer(split(bytes))).toMatchObject({ pieces: 4, body: 'abcd' })
  })

  test('an answer that is long is returned as it arrives', () => {
    const head = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n')
    const half = Buffer.alloc(50_000, 'x')
    expect(readAnswer([head, half, half])).toMatchObject({
      pieces: 2,
      outcome: 'clean',
      body: 'x'.repeat(100_000),
    })
  })

  test('an answer that breaks in the middle has returned its valid part', () => {
    expect(readAnswer([Buffer.from(`${CHUNKED}5\r\nhello\r\nrubbish`)])).toMatchObject({
      body: 'hello',
      outcome: 'refused',
    })
  })
})

describe('a connection is kept', () => {
  test.each([
    ['', Infinity],
    ['connection: keep-alive\r\n', Infinity],
    ['Connection: Close\r\n', 0],
    ['connection: x-thing, close\r\n', 0],
    ['connection: x-thing\r\nconnection: close\r\n', 0],
    ['connection: closed\r\n', Infinity],
    ['keep-alive: timeout=5\r\n', 4000],
    ['Keep-Alive: max=100, Timeout=72\r\n', 71_000],
    ['keep-alive: timeout=1\r\n', 0],
    ['keep-alive: timeout=0\r\n', 0],
    ['keep-alive: whatever\r\n', Infinity],
  ])('as the server says: %j', (lines, keepAliveMs) => {
    const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${lines}content-length: 2\r\n\r\nhi`)
    expect(readAnswer([bytes]).keepAliveMs).toBe(keepAliveMs)
  })
})

describe('the reader refuses', () => {
  const head = (lines: string) => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\nhello`
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['a status below all', 'HTTP/1.1 099 OK\r\n\r\n'],
    ['an empty line before the answer', '\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a control character in the reason', 'HTTP/1.1 200 O\x01K\r\n\r\n'],
    ['a changed protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a line that ends in LF alone', head('a: b\nc: d')],
    ['a lone CR', head('a: b\rc: d')],
    ['a folded line', head('a: b\r\n c')],
    ['a space before the colon', head('a : b')],
    ['a header without a name', head(': b')],
    ['a header without a colon', head('abc')],
    ['a control character in a header', head('a: b\x00c')],
    ['a length that is no number', head('content-length: 0x5')],
    ['a signed length', head('content-length: +5')],
    ['an empty length', head('content-length:')],
    ['a length beyond all bounds', head('content-length: 9999999999999999')],
    ['two lengths', head('content-length: 5\r\ncontent-length: 6')],
    ['the same length twice', head('content-length: 5\r\nContent-Length: 5')],
    ['a list of lengths', head('content-length: 5, 5')],
    ['a length beside a transfer encoding', head('content-length: 5\r\ntransfer-encoding: chunked')],
    ['an unknown transfer encoding', head('transfer-encoding: gzip')],
    ['several transfer encodings', head('transfer-encoding: gzip, chunked')],
    ['chunked twice', head('transfer-encoding: chunked\r\ntransfer-encoding: chunked')],
    ['a chunk without a size', `${CHUNKED}\r\nhello\r\n`],
    ['a chunk whose size is no number', `${CHUNKED}5x\r\nhello\r\n`],
    ['a chunk whose size is signed', `${CHUNKED}-5\r\nhello\r\n`],
    ['a space behind the size of a chunk', `${CHUNKED}5 \r\nhello\r\n`],
    ['a chunk of more digits than a number has', `${CHUNKED}${'0'.repeat(12)}5\r\nhello\r\n`],
    ['a chunk size that ends in LF alone', `${CHUNKED}5\nhello\r\n`],
    ['a chunk size that ends in CR alone', `${CHUNKED}5\rhello\r\n`],
    ['a chunk extension with a control character', `${CHUNKED}5;a\x00\r\nhello\r\n`],
    ['an endless chunk extension', `${CHUNKED}5;${'a'.repeat(2000)}`],
    ['a chunk that is longer than it says', `${CHUNKED}4\r\nhello\r\n`],
    ['a chunk that ends in LF alone', `${CHUNKED}5\r\nhello\n0\r\n\r\n`],
    ['a trailer that is none', `${CHUNKED}0\r\nno trailer\r\n\r\n`],
    ['an endless trailer', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(4000)}`],
    ['an endless head', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(4000)}`],
    ['an endless line', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}`],
    ['a long head that ends', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`],
  ])('%s', (_name, text) => {
    const bytes = Buffer.from(text, 'latin1')
    expect(readAnswer([bytes])).toMatchObject({ outcome: 'refused' })
    expect(readAnswer(split(bytes))).toMatchObject({ outcome: 'refused' })
  })
  // Each is the start of an answer that would never end.
  test.each([
    ['a head whose lines end in LF alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nhi'],
    ['a first line that ends in LF alone', 'HTTP/1.1 200 OK\n'],
    ['a header that ends in LF alone', 'HTTP/1.1 200 OK\r\na: b\n'],
    ['a head whose lines end in CR alone', 'HTTP/1.1 200 OK\rcontent-length: 2\r\rhi'],
    ['an empty line of LF alone', 'HTTP/1.1 200 OK\r\na: b\r\n\n'],
    ['a chunk size that ends in LF alone', `${CHUNKED}2\n`],
    ['a chunk that ends in LF alone', `${CHUNKED}2\r\nhi\n`],
    ['a last chunk that ends in LF alone', `${CHUNKED}0\n`],
    ['a trailer that ends in LF alone', `${CHUNKED}0\r\na: b\n`],
    ['an empty trailer of LF alone', `${CHUNKED}0\r\n\n`],
    ['heads before the answer without end', 'HTTP/1.1 103 Hints\r\na: b\r\n\r\n'.repeat(17)],
  ])('at once: %s', (_name, text) => {
    const bytes = Buffer.from(text, 'latin1')
    expect(readAnswer([bytes])).toMatchObject({ outcome: 'refused' })
    expect(readAnswer(split(bytes))).toMatchObject({ outcome: 'refused' })
  })

  test('no line endings inside a body', () => {
    const body = 'data: a\ndata: b\r\rdata: c\r\n\n'
    const chunked = `${CHUNKED}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    expect(readAnswer([Buffer.from(chunked)])).toMatchObject({ outcome: 'clean', body })
    expect(readAnswer(split(Buffer.from(chunked)))).toMatchObject({ outcome: 'clean', body })
  })
})
