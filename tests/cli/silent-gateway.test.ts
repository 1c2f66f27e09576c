import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createBoundedFetch } from '../../cli/api/bounded-fetch.ts'
import { createGatewayClient } from '../../cli/api/gateway-client.ts'
import { readPages } from '../../cli/api/read-pages.ts'

const TASK = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'

/** Starts a server that answers only as the test says. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const connect = (baseUrl: string) =>
  createGatewayClient({ baseUrl, apiKey: 'x', profile: null }, { silenceMsMax: 50 })

test.each([
  ['before its answer', () => {}],
  ['within its answer', (response: ServerResponse) => response.write('{"id":')],
])('a gateway that is silent %s ends a read', async (_, begin) => {
  const baseUrl = await startServer((__, response) => void begin(response))
  const reading = connect(baseUrl).call((routes) => routes.GET('/v1/tenants/me'))
  await expect(reading).rejects.toMatchObject({
    exitCode: 7,
    message: `The gateway at ${baseUrl} took the request, but sent nothing for 0.05 s.`,
    advice: expect.stringContaining('parkway profiles'),
  })
})

test('a silent gateway ends neither a question to a model nor a stream nor a read that waits for a task', async () => {
  const held: ServerResponse[] = []
  const baseUrl = await startServer((_, response) => void held.push(response))
  const gateway = connect(baseUrl)
  const waiting = [
    gateway.call((routes) => routes.POST('/v1/moderations', { body: { input: 'x' } })),
    gateway.call((routes) =>
      routes.GET('/v1/tasks/{id}', { params: { path: { id: TASK }, query: { wait: 20 } } }),
    ),
    gateway.send('/v1/compare/runs/x/stream', { method: 'GET' }).then((response) => response.json()),
  ]
  await vi.waitFor(() => expect(held).toHaveLength(waiting.length))
  // Its bound is the same, and it began last.
  await expect(gateway.call((routes) => routes.GET('/v1/tenants/me'))).rejects.toMatchObject({ exitCode: 7 })
  for (const response of held)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"late"}')
  const late = { id: 'late' }
  expect(await Promise.all(waiting)).toEqual([late, late, late])
})

test('an answer may take longer than the silence within it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let answer: ServerResponse | undefined
  const baseUrl = await startServer((_, response) => {
    answer = response
    response.write('first')
  })
  const response = await createBoundedFetch(1_000)(new Request(baseUrl))
  const reader = response.body?.getReader()
  for (const part of ['first', 'second', 'third']) {
    const { value } = (await reader?.read()) ?? {}
    expect(Buffer.from(value ?? []).toString()).toBe(part)
    vi.advanceTimersByTime(900)
    if (part === 'first') answer?.write('second')
    if (part === 'second') answer?.end('third')
  }
  expect(await reader?.read()).toMatchObject({ done: true })
  expect(vi.getTimerCount()).toBe(0)
})

test('a gateway that sends the same page again and again ends a list', async () => {
  const read = vi.fn(async () => ({ data: ['one'], has_more: true, next_cursor: 'same' }))
  await expect(readPages(1_000, read)).rejects.toMatchObject({
    exitCode: 1,
    message: 'The gateway sent the same page twice.',
  })
  expect(read).toHaveBeenCalledTimes(2)
})
