import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { adminAuditRoutes } from '../routes/operator/admin-audit.ts'
import { sendExport } from '../routes/compare/compare-export.ts'
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
  const sent = sendCsv(reply, {
    name: 'a.csv',
    pieces,
    logger: silentLogger,
    cancellation: new Cancellation(),
  })
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

test('the audit log of operators and a run of comparisons stop where the right to read them ends', async () => {
  const cancellation = new Cancellation()
  cancellation.cancel(new Error('the key was revoked'))
  const [route] = adminAuditRoutes({
    audit: { export: () => manyParts() },
    logger: silentLogger,
  } as unknown as Parameters<typeof adminAuditRoutes>[0])
  const sends = [
    (reply: Reply) => route?.handle({ query: { format: 'csv' }, reply, exchange: { cancellation } } as never),
    (reply: Reply) =>
      sendExport(
        reply,
        {
          run: { id: 'r', scores: [] },
          view: { isHidden: () => false },
          parts: manyParts(),
          format: 'csv',
          cancellation,
        } as unknown as Parameters<typeof sendExport>[1],
        () => {},
      ),
  ]
  for (const send of sends) {
    const { raw, reply } = stalledReply()
    raw.resume()
    await send(reply)
    expect([raw.destroyed, raw.writableEnded]).toEqual([true, false])
  }
})

type Reply = Parameters<typeof sendCsv>[0]

async function* manyParts(): AsyncGenerator<readonly never[]> {
  for (let part = 0; part < 1_000; part += 1) yield []
}
