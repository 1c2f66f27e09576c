import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventSplitter, EventTooLarge } from './event-splitter.ts'

const split = (chunks: Buffer[], eventBytesMax = 1 << 20) => {
  const splitter = new EventSplitter({ eventBytesMax })
  const payloads = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]
  return { payloads: payloads.map(String), isDone: splitter.isDone }
}

describe('EventSplitter', () => {
  it('yields data payloads and drops comments and other fields', () => {
    const text =
      ': hello\nevent: x\nid: 7\ndata: {"a":1}\n\n:keep-alive\n\ndata:{"b":2}\n\ndata: [DONE]\n\ndata: late\n\n'
    expect(split([Buffer.from(text)])).toEqual({ payloads: ['{"a":1}', '{"b":2}'], isDone: true })
  })

  it('accepts carriage returns and joins the data lines of one event', () => {
    expect(split([Buffer.from('data: a\r\ndata: b\r\n\r\n')]).payloads).toEqual(['a\nb'])
  })

  it('yields an event that ends with the stream instead of an empty line', () => {
    expect(split([Buffer.from('data: {"a":1}')])).toEqual({ payloads: ['{"a":1}'], isDone: false })
  })

  it('refuses an event over the limit, however it is split', () => {
    const line = Buffer.from(`data: ${'x'.repeat(200)}`)
    expect(() => split([line, line], 300)).toThrow(EventTooLarge)
    expect(() =>
      split(
        Array.from({ length: 5 }, () => Buffer.concat([line, Buffer.from('\n')])),
        300,
      ),
    ).toThrow(EventTooLarge)
  })

  it('refuses an event of endless empty lines', () => {
    const lines = Buffer.from('data:\n'.repeat(1000))
    expect(() => split([lines], 10_000)).toThrow(EventTooLarge)
    const events = Buffer.from('data: x\n\n'.repeat(1000))
    expect(split([events], 10_000).payloads).toHaveLength(1000)
  })

  it('refuses a flood without events, however short its lines and chunks are', () => {
    for (const entry of [': ping\n\n', ':\n', '\n', '\r\n', ':', 'x', 'event: ping\n\n', 'data:\n\n']) {
      expect(() => split(Array<Buffer>(320).fill(Buffer.from(entry)), 10_000)).toThrow(EventTooLarge)
      expect(() => split([Buffer.from(entry.repeat(20_001))], 10_000)).toThrow(EventTooLarge)
      expect(split(Array<Buffer>(50).fill(Buffer.from(entry)), 10_000).payloads).toEqual([])
    }
  })

  it('takes any number of comments between events', () => {
    const ping = Buffer.from(': ping\n\n: ping\n\ndata: x\n\n')
    expect(split(Array<Buffer>(1_000).fill(ping), 1_000).payloads).toHaveLength(1_000)
  })

  it('yields the same payloads wherever the bytes are split', () => {
    const text = 'data: {"ü":"😀"}\r\n\r\n: c\n\ndata: {"b":2}\n\ndata: x\ndata: y\n\ndata: [DONE]\n\n'
    const bytes = Buffer.from(text)
    const whole = split([bytes])
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(bytes.length)), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
        expect(split(chunks)).toEqual(whole)
      }),
    )
  })
})
