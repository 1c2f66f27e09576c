import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../tests/support/eventually.ts'
import { ClusterError, type ClusterApi } from './cluster-api.ts'
import { parsePod } from './cluster-objects.ts'
import { ObjectWatch } from './object-watch.ts'

/** Starts a watch of pods whose server and time are controlled by the test. */
function startWatch() {
  let nowMs = 1_000
  const pauses: number[] = []
  let begun = 0
  let lists = 0
  let end: (error: Error | null) => void = () => {}
  let goOn: () => void = () => {}
  const api: Pick<ClusterApi, 'list' | 'watch'> = {
    list: async () => {
      lists += 1
      return { items: [], resourceVersion: '1' }
    },
    watch: async (_path, _query, signal) => {
      const ended = new Promise<Error | null>((resolve) => {
        end = resolve
        signal.addEventListener('abort', () => resolve(null))
      })
      begun += 1
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            const error = await ended
            if (error !== null) throw error
            return { done: true, value: undefined }
          },
        }),
      }
    },
  }
  const watch = new ObjectWatch({
    api,
    path: '/api/v1/namespaces/engines/pods',
    selector: 'a=b',
    parse: parsePod,
    report: () => {},
    timing: {
      nowMs: () => nowMs,
      wait: (durationMs, signal) =>
        new Promise((resolve) => {
          if (signal.aborted) return resolve()
          pauses.push(durationMs)
          goOn = resolve
          signal.addEventListener('abort', () => resolve())
        }),
    },
  })
  watch.start()
  return {
    watch,
    pauses,
    countLists: () => lists,
    pass: (durationMs: number) => {
      nowMs += durationMs
    },
    /** Ends the watch as the server would, and returns the pause before the next one. */
    endWatch: async (error: Error | null = null) => {
      const count = pauses.length
      await eventually(() => expect(begun).toBe(count + 1))
      await eventually(() => expect(watch.isCurrent).toBe(true))
      end(error)
      await eventually(() => expect(pauses).toHaveLength(count + 1))
      return pauses[count]
    },
    /** Ends the pause and waits for the next watch. */
    resume: async () => {
      const count = begun
      goOn()
      await eventually(() => expect(begun).toBe(count + 1))
    },
  }
}

let stage: ReturnType<typeof startWatch>
afterEach(() => stage.watch.close())

describe('a watch that the server ends without an error', () => {
  test('leaves a copy that may be used for a second', async () => {
    stage = startWatch()
    await stage.endWatch()
    stage.pass(999)
    expect(stage.watch.isCurrent).toBe(true)
    stage.pass(1)
    expect(stage.watch.isCurrent).toBe(false)
    await stage.resume()
    await eventually(() => expect(stage.watch.isCurrent).toBe(true))
    expect(stage.countLists()).toBe(1)
  })

  test('begins again later and later, and at once after one that lasted', async () => {
    stage = startWatch()
    for (const pauseMs of [200, 400, 800, 1_600]) {
      expect(await stage.endWatch()).toBe(pauseMs)
      // The time of the pause and of a slow connection is not time of the watch.
      stage.pass(60_000)
      expect(stage.watch.isCurrent).toBe(false)
      await stage.resume()
    }
    await eventually(() => expect(stage.watch.isCurrent).toBe(true))
    stage.pass(5_001)
    expect(await stage.endWatch()).toBe(100)
    await stage.resume()
    expect(await stage.endWatch()).toBe(200)
  })
})

test('a watch that fails leaves a copy that may not be used, and an expired one lists again', async () => {
  stage = startWatch()
  await stage.endWatch(new Error('cut'))
  expect(stage.watch.isCurrent).toBe(false)
  await stage.resume()
  await stage.endWatch(new ClusterError(410, { reason: 'Expired', message: '' }))
  expect([stage.watch.isCurrent, stage.countLists()]).toEqual([false, 1])
  await stage.resume()
  expect(stage.countLists()).toBe(2)
})
