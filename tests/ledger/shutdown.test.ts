import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHAT } from '../chat/start-chat-gateway.ts'
import { readPieces } from '../chat/read-events.ts'
import { chunksOf, startOpenAiServer, stream, type OpenAiServer } from '../upstreams/openai-server.ts'
import { chatOf, startFleet, type Fleet } from './start-fleet.ts'

let upstream: OpenAiServer
let fleet: Fleet

beforeAll(async () => {
  // Sends two words, then nothing more.
  upstream = await startOpenAiServer(stream(chunksOf('Hello', ' there').slice(0, 3), { ending: 'hang' }))
  fleet = await startFleet({ upstream, environment: { PARKWAY_SHUTDOWN_GRACE_MS: '100' } })
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

test('a process that shuts down charges what it has delivered and gives back all other credit', async () => {
  const { url, program } = await fleet.start()
  const { key, accountId } = await fleet.createSpender({ creditUsd: 1 })
  const response = await fetch(url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatOf('Hi', { max_tokens: 1_000, stream: true })),
  })
  const reader = readPieces(response)
  await reader.until(/there/)
  program.kill('SIGTERM')
  await expect(reader.until(/\[DONE\]/)).rejects.toThrow()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  const requestId = response.headers.get('x-request-id')
  expect(await fleet.readCharges(accountId)).toMatchObject([{ requestId, completionTokens: 2 }])
  const leases = await fleet.database.query('SELECT FROM credit_leases WHERE account_id = $1', [accountId])
  expect(leases).toEqual([])
  expect(await fleet.findDifferences()).toEqual([])
})
