import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pickHeaders, readAnswer } from './testing/read-answers.ts'
import { readWithNode, type NodeAnswer } from './testing/read-with-node.ts'

const token = fc.constantFrom('a', 'X-Request-Id', 'retry-after', 'content-type', 'Set-Cookie', 'Connection')
const value = fc.constantFrom(
  '',
  'b',
  '7',
  'text/event-stream',
  'close',
  'keep-alive',
  ' padded\t',
  '\xe9',
  'a, b',
)
const fields = fc
  .array(fc.tuple(token, value), { maxLength: 4 })
  .map((lines) => lines.map(([name, said]) => `${name}:${said}\r\n`).join(''))
const body = fc.string({ maxLength: 40 })
const version = fc.constantFrom('1.1', '1.1', '1.1', '1.0')
const status = fc.constantFrom(200, 200, 201, 204, 302, 304, 400, 429, 500, 599)

const chunks = fc
  .array(fc.tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.constantFrom('', ';a', ';a=b', ';a="b c"')))
  .map((parts) =>
    parts.map(([data, extension]) => `${data.length.toString(16)}${extension}\r\n${data}\r\n`).join(''),
  )
const framed = fc.oneof(
  body.map((said) => ({ line: `content-length: ${said.length}\r\n`, said })),
  body.map((said) => ({ line: '', said })),
  fc.tuple(chunks, fields).map(([said, trailer]) => ({
    line: 'Transfer-Encoding: chunked\r\n',
    said: `${said}0\r\n${trailer}\r\n`,
  })),
)
const answers = fc
  .tuple(fc.constantFrom('', '', '', 'HTTP/1.1 100 Continue\r\n\r\n'), version, status, fields, framed)
  .map(
    ([before, http, code, lines, { line, said }]) =>
      `${before}HTTP/${http} ${code} OK\r\n${lines}${line}\r\n${said}`,
  )

const SPECIALS = [
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '\0',
  '\x7f',
  '0',
  '5',
  'f',
  '-',
  '\xff',
  '"',
  '',
]
const changes = fc.array(
  fc.record({
    at: fc.nat(300),
    removed: fc.nat(2),
    added: fc.oneof(
      fc.constantFrom(...SPECIALS),
      fc.constantFrom('content-length: 3\r\n', 'transfer-encoding: chunked\r\n', 'HTTP/1.1 200 OK\r\n'),
    ),
  }),
  { maxLength: 3 },
)
const spoilt = fc.tuple(answers, changes).map(([text, edits]) =>
  edits.reduce((said, { at, removed, added }) => {
    const from = at % (said.length + 1)
    return said.slice(0, from) + added + said.slice(from + removed)
  }, text),
)

/** Answers that we refuse and Node accepts: other parsers could read them differently, or no server sends them. */
const STRICTER = [
  'its answer has an unknown transfer encoding',
  'its answer does not begin as HTTP/1 does',
  'its answer has both a length and a transfer encoding',
  'the length of its answer is no number',
  'it changed to a protocol that nobody asked for',
  'a chunk has no size',
]

/** A tab after a value is not part of it, but Node reads this value as another encoding. */
const NODE_ERRS = /chunked *\t/i

describe('compared with Node’s own client', () => {
  test('valid answers are parsed alike', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (text) => {
        const bytes = Buffer.from(text, 'latin1')
        const { outcome, status: code, headers, body: said } = readAnswer([bytes])
        const node = await readWithNode(bytes)
        if (outcome === 'followed') return
        expect(node && pick(node)).toEqual({ status: code, headers, body: said })
      }),
      { numRuns: 500 },
    )
  })

  test('damaged answers are parsed alike or refused, with known differences only', async () => {
    await fc.assert(
      fc.asyncProperty(spoilt, async (text) => {
        const bytes = Buffer.from(text, 'latin1')
        const ours = readAnswer([bytes])
        const node = await readWithNode(bytes)
        const isRead = ours.outcome === 'clean' || ours.outcome === 'closed'
        if (NODE_ERRS.test(text)) return
        if (isRead && node !== null) {
          expect({ status: ours.status, headers: ours.headers, body: ours.body }).toEqual(pick(node))
        } else if (node !== null && ours.outcome !== 'followed') {
          expect([ours.outcome, STRICTER]).toEqual(['refused', expect.arrayContaining([ours.message])])
        } else if (isRead) {
          expect(isSkippedByUs(text)).toBe(true)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

/** We ignore chunk extensions and trailers: we only search for the end of an extension and check the form of a trailer. */
function isSkippedByUs(text: string): boolean {
  return (
    /transfer-encoding:\s*chunked/i.test(text) && (/\n[0-9a-f]+;/i.test(text) || /\n0+\r\n[^\r]/.test(text))
  )
}

function pick(answer: NodeAnswer): NodeAnswer {
  return { ...answer, headers: pickHeaders(answer.headers) }
}
