import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PixelRoom } from './pixel-room.ts'

const { signal } = new AbortController()

describe('the pixel budget', () => {
  test('is never exceeded, and every request is served', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }), async (sizes) => {
        const room = new PixelRoom({ pixelsMax: 10, waitingMax: 100 })
        let most = 0
        let done = 0
        await Promise.all(
          sizes.map((pixels) =>
            room.use(pixels, signal, async () => {
              await Promise.resolve()
              most = Math.max(most, pixels > 10 ? 0 : room.pixels)
              done += 1
            }),
          ),
        )
        expect([most <= 10, done, room.pixels]).toEqual([true, sizes.length, 0])
      }),
    )
  })

  test('refuses a request behind too many waiting ones, and drops cancelled ones', async () => {
    const room = new PixelRoom({ pixelsMax: 10, waitingMax: 1 })
    const { promise: work, resolve: finish } = Promise.withResolvers<void>()
    const first = room.use(10, signal, () => work)
    const leaving = new AbortController()
    const second = room.use(10, leaving.signal, async () => 'never')
    await expect(room.use(10, signal, async () => 'never')).rejects.toMatchObject({
      details: { status: 503 },
    })
    leaving.abort(new Error('gone'))
    await expect(second).rejects.toThrow('gone')
    const third = room.use(10, signal, async () => 'made')
    finish()
    await first
    expect(await third).toBe('made')
    expect(room.pixels).toBe(0)
  })
})
