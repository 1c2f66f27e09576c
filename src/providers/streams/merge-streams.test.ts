import { describe, expect, it, vi } from 'vitest'
import { mergeStreams } from './merge-streams.ts'

async function* count(name: string, upTo: number): AsyncGenerator<string, void> {
  for (let number = 1; number <= upTo; number += 1) yield `${name}${number}`
}

async function collect(stream: AsyncIterable<string>): Promise<string[]> {
  const items: string[] = []
  for await (const item of stream) items.push(item)
  return items
}

describe('mergeStreams', () => {
  it('yields everything of every stream, each in its own order', async () => {
    const cancel = vi.fn<() => void>()
    const items = await collect(mergeStreams([count('a', 3), count('b', 2), count('c', 0)], cancel))
    expect(items.filter((item) => item.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
    expect(items.filter((item) => item.startsWith('b'))).toEqual(['b1', 'b2'])
    expect([items.length, cancel.mock.calls.length]).toEqual([5, 0])
  })

  it('yields from one stream while another is silent', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    async function* late(): AsyncGenerator<string, void> {
      await promise
      yield 'late'
    }
    const merged = mergeStreams([late(), count('a', 1)], () => {})
    expect((await merged.next()).value).toBe('a1')
    resolve()
    expect((await merged.next()).value).toBe('late')
  })

  it.each(['fails', 'is no longer read'])('closes a stream that waits when another one %s', async (why) => {
    const { promise, reject } = Promise.withResolvers<string>()
    let isClosed = false
    async function* waiting(): AsyncGenerator<string, void> {
      try {
        yield await promise
      } finally {
        isClosed = true
      }
    }
    async function* failing(): AsyncGenerator<string, void> {
      yield 'first'
      throw new Error('broken')
    }
    const merged = mergeStreams([waiting(), failing()], () => reject(new Error('cancelled')))
    expect((await merged.next()).value).toBe('first')
    if (why === 'fails') await expect(merged.next()).rejects.toThrow('broken')
    else await merged.return()
    expect(isClosed).toBe(true)
  })
})
