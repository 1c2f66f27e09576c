import { stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { closed, echo, failed, holdTicks, stage, useClient } from './testing/client-stage.ts'
import { CollectedExchange } from './testing/collect-answer.ts'
import { plainAnswer, startRawUpstream, type RawRequest } from './testing/raw-upstream.ts'

/** Waits longer than the tick interval of the client. `stat` resumes in the event loop phase in which requests arrive. */
async function rest(tick: (durationMs: number) => void): Promise<void> {
  tick(250)
  await stat('.')
}

describe('a connection', () => {
  test('is used for consecutive requests', async () => {
    const { upstream, ask } = await stage(echo)
    for (const body of ['a', 'b', 'c']) expect((await ask(body).answer).body).toBe(body)
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 1])
  })

  test('has one request at a time, and the most recently used one is used next', async () => {
    const { upstream, ask } = await stage(echo)
    await Promise.all([ask('a').answer, ask('b').answer, ask('c').answer])
    expect(upstream.sockets).toHaveLength(3)
    const last = upstream.requests.at(-1)?.connection
    await ask('d').answer
    await ask('e').answer
    expect(upstream.requests.slice(3).map(({ connection }) => connection)).toEqual([last, last])
  })

  test.each(['connection: close\r\n', 'keep-alive: timeout=1\r\n'])(
    'is not reused if the upstream says %j',
    async (lines) => {
      const { upstream, ask } = await stage(({ socket }) => socket.write(plainAnswer('x', lines)))
      await ask().answer
      await ask().answer
      expect(upstream.sockets).toHaveLength(2)
      await closed(upstream, 0)
    },
  )

  test('a connection that is idle is closed after a while', async () => {
    const { upstream, ask } = await stage(echo, { keepAliveMs: 100 })
    await ask().answer
    await closed(upstream, 0)
    expect((await ask('again').answer).body).toBe('again')
  })

  test('a connection that the upstream has closed is not used', async () => {
    const { upstream, ask } = await stage(echo)
    await ask().answer
    upstream.sockets[0]?.destroy()
    await turn()
    await turn()
    expect((await ask('b').answer).body).toBe('b')
    expect(upstream.sockets).toHaveLength(2)
  })

  test.each(['destroy', 'resetAndDestroy'] as const)(
    'a connection that the upstream closes at the same moment is not used after a pause: %s',
    async (method) => {
      const tick = holdTicks()
      const { upstream, ask } = await stage(echo)
      await ask().answer
      await rest(tick)
      upstream.sockets[0]?.[method]()
      // The kernel knows that the connection is closed, but the client has not read this yet.
      expect((await ask('b').answer).body).toBe('b')
      expect(upstream.sockets).toHaveLength(2)
    },
  )

  test('a connection that no longer accepts data does not lose the request', async () => {
    const { upstream, ask } = await stage(echo)
    await ask().answer
    await stat('.')
    upstream.sockets[0]?.resetAndDestroy()
    expect((await ask('b').answer).body).toBe('b')
    expect(upstream.requests).toHaveLength(2)
  })

  test('with data after the answer is not reused', async () => {
    const { upstream, ask } = await stage(({ socket }) =>
      socket.write(`${plainAnswer('mine')}${plainAnswer('whose?')}`),
    )
    expect((await ask().answer).body).toBe('mine')
    expect((await ask().answer).body).toBe('mine')
    expect(upstream.sockets).toHaveLength(2)
    await closed(upstream, 0)
  })

  test('on which unexpected data arrives is closed', async () => {
    const { upstream, ask } = await stage(echo)
    await ask().answer
    upstream.sockets[0]?.write(plainAnswer('whose?'))
    await closed(upstream, 0)
    expect((await ask('mine').answer).body).toBe('mine')
  })

  test('on which data has just arrived does not answer with that data', async () => {
    const tick = holdTicks()
    const { upstream, ask } = await stage(echo)
    await ask().answer
    await rest(tick)
    upstream.sockets[0]?.write(plainAnswer('whose?'))
    expect((await ask('mine').answer).body).toBe('mine')
    expect(upstream.sockets).toHaveLength(2)
  })

  test('a connection that cannot be opened is reported as such', async () => {
    const upstream = await startRawUpstream(echo)
    await upstream.close()
    const client = useClient({ origin: upstream.origin })
    expect(await new CollectedExchange(client).failure()).toEqual(failed('connect', /ECONNREFUSED/))
    const unknown = useClient({ origin: 'http://nobody.invalid' })
    expect(await new CollectedExchange(unknown).failure()).toEqual(failed('connect', /nobody.invalid/))
  })

  test('is opened to an IPv6 address', async () => {
    const upstream = await startRawUpstream(echo, { host: '::1' })
    const client = useClient({ origin: upstream.origin })
    expect((await new CollectedExchange(client, { body: 'six' }).answer).body).toBe('six')
    expect(upstream.requests[0]?.text).toContain(`host: ${new URL(upstream.origin).host}\r\n`)
    await upstream.close()
  })

  test('is opened to the first address of a name that answers', async () => {
    const upstream = await startRawUpstream(echo)
    const client = useClient({ origin: upstream.origin.replace('127.0.0.1', 'localhost') })
    expect((await new CollectedExchange(client, { body: 'name' }).answer).body).toBe('name')
    await upstream.close()
  })
})

describe('more requests than connections', () => {
  test('wait in order', async () => {
    const held: RawRequest[] = []
    const { upstream, ask } = await stage((request) => held.push(request), { connectionsMax: 2 })
    const exchanges = ['a', 'b', 'c', 'd', 'e'].map(ask)
    for (let answered = 0; answered < 5; answered += 1) {
      await expect.poll(() => held.length).toBe(Math.min(5, answered + 2))
      const request = held[answered]
      if (request !== undefined) echo(request)
      expect((await exchanges[answered]?.answer)?.body).toBe('abcde'[answered])
    }
    expect(upstream.requests.map(({ body }) => body).join('')).toBe('abcde')
    expect(upstream.sockets).toHaveLength(2)
  })

  test('get a new connection when one is lost', async () => {
    const { upstream, ask } = await stage(({ socket }) => socket.destroy(), { connectionsMax: 1 })
    const exchanges = [ask(), ask(), ask()]
    for (const exchange of exchanges) expect(await exchange.failure()).toEqual(failed('cut', /ended/))
    expect(upstream.sockets).toHaveLength(3)
  })

  test('are each told that there is no connection', async () => {
    const upstream = await startRawUpstream(echo)
    await upstream.close()
    const client = useClient({ origin: upstream.origin, connectionsMax: 1 })
    const exchanges = [0, 1, 2].map(() => new CollectedExchange(client))
    for (const exchange of exchanges)
      expect(await exchange.failure()).toEqual(failed('connect', /ECONNREFUSED/))
  })

  test('are handled in any number', async () => {
    const { upstream, ask } = await stage(echo, { connectionsMax: 3 })
    const bodies = Array.from({ length: 500 }, (_, index) => `request ${index}`)
    const answers = await Promise.all(bodies.map((body) => ask(body).answer))
    expect(answers.map(({ body }) => body)).toEqual(bodies)
    expect(upstream.sockets).toHaveLength(3)
  })
})
