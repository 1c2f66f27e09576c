import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import type { OwnFiles } from '../../modules/media/media.ts'
import type { Exchange } from '../exchange.ts'
import type { Spool } from './spool.ts'
import { createTakeFiles } from './take-files.ts'

/** A body that never ends. */
const exchangeOf = (accountId: string) =>
  ({ caller: { accountId }, incoming: { headers: {} } }) as unknown as Exchange<IncomingMessage>
const spool = { create: () => new Promise(() => {}) } as unknown as Spool

test('whole bodies that are written to disk are few for an account and for all, because each may be very long', async () => {
  const takeFiles = createTakeFiles({ spool, media: {} as OwnFiles })
  const begin = (accountId: string) =>
    takeFiles.ofWhole(exchangeOf(accountId), 1_000, () => Promise.resolve('done'))
  for (let account = 0; account < 8; account += 1) {
    for (let body = 0; body < 4; body += 1) void begin(`account ${account}`)
    await expect(begin(`account ${account}`)).rejects.toMatchObject({ code: 'concurrency_limit_reached' })
  }
  await expect(begin('another')).rejects.toMatchObject({ code: 'service_unavailable' })
})
