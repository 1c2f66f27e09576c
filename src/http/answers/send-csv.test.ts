import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { sendCsv } from './send-csv.ts'

const HIGH_WATER_MARK = 16

/** An answer whose client reads only when asked to. */
function stalledReply() {
  const raw = Object.assign(new PassThrough({ highWaterMark: HIGH_WATER_MARK }), { writeHead: () => raw })
  const reply = { raw, header: () => reply, getHeaders: () => ({}), statusCode: 200, hijack: () => reply }
  return { raw, reply: reply as unknown as Parameters<typeof sendCsv>[0] }
}

function countedPieces() {
  const counted = { made: 0 }
  async function* pieces(): AsyncGenerator<string> {
    for (; counted.made < 1_000; counted.made += 1) yield 'x'.repeat(HIGH_WATER_MARK)
  }
  return { counted, pieces: pieces() }
}

test('a file is made at the pace of its client', async () => {
  const { raw, reply } = stalledReply()
  const { counted, pieces } = countedPieces()
  const sent = sendCsv(reply, { name: 'a.csv', pieces, logger: silentLogger })
  await new Promise(setImmediate)
  expect(counted.made).toBeLessThan(5)
  expect(await text(raw)).toHaveLength(1_000 * HIGH_WATER_MARK)
  await sent
})

test('a file ends without a proper end where the right to read it ends', async () => {
  const { raw, reply } = stalledReply()
  const { counted, pieces } = countedPieces()
  const cancellation = new Cancellation()
  const sent = sendCsv(reply, { name: 'a.csv', pieces, logger: silentLogger, cancellation })
  cancellation.cancel(new Error('the key was revoked'))
  const read = text(raw)
  await expect(read).rejects.toThrow()
  await sent
  expect(counted.made).toBeLessThan(5)
})
