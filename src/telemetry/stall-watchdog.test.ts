import { describe, expect, test, vi } from 'vitest'
import { silentLogger } from '../kernel/logger.ts'
import { attributeStall, startStallWatchdog, type WatchedRequest } from './stall-watchdog.ts'

const stall = { fromMs: 1_000, toMs: 2_000 }
const request = (route: string, startedMs: number): WatchedRequest => ({ route, startedMs })

describe('a stall is attributed to', () => {
  test.each<[string, WatchedRequest[], string]>([
    ['nobody when nothing is asked', [], 'background'],
    [
      'the request that was begun and behind which all others waited',
      [request('/a', 1_010), request('/b', 1_990)],
      '/a',
    ],
    [
      'the last that was begun, if those before it were quick',
      [request('/a', 1_010), request('/b', 1_020)],
      '/b',
    ],
    [
      'the request that began in it rather than those that ran before',
      [request('/old', 10), request('/a', 1_005)],
      '/a',
    ],
    ['the one route that was worked on', [request('/a', 10), request('/a', 20)], '/a'],
    ['several when it may be any', [request('/a', 10), request('/b', 20)], 'several'],
    [
      'the one that ran before, when others only came at its end',
      [request('/a', 10), request('/b', 1_950)],
      '/a',
    ],
  ])('%s', (_, requests, route) => {
    expect(attributeStall(requests, stall)).toBe(route)
  })
})

test('the watchdog counts and logs a blocked event loop, with the route', async () => {
  const stalls: [string, number][] = []
  const warn = vi.fn<typeof silentLogger.warn>()
  const stop = startStallWatchdog({
    metrics: { stalled: (route, stallMs) => stalls.push([route, stallMs]) },
    logger: { ...silentLogger, warn },
    listRequests: () => [request('/v1/held', 0)],
  })
  const untilMs = performance.now() + 1_200
  while (performance.now() < untilMs);
  await vi.waitFor(() => expect(warn).toHaveBeenCalled(), { timeout: 10_000 })
  stop()
  expect(stalls.some(([route, stallMs]) => route === '/v1/held' && stallMs >= 1_000)).toBe(true)
  expect(warn).toHaveBeenCalledWith(
    expect.objectContaining({ route: '/v1/held' }),
    'the event loop stood still',
  )
})
