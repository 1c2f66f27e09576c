import type { TestGateway } from '../support/start-test-gateway.ts'

/** Returns how often the watchdog has seen the event loop blocked for longer than this number of seconds. */
export async function countStallsAbove(
  gateway: TestGateway,
  seconds: string,
  route?: string,
): Promise<number> {
  const { body } = await gateway.request('GET', '/metrics')
  const sumOf = (start: string, part = ''): number =>
    String(body)
      .split('\n')
      .filter((line) => line.startsWith(start) && line.includes(part))
      .filter((line) => route === undefined || line.includes(`route="${route}"`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  const bounded = sumOf('parkway_event_loop_stall_seconds_bucket', `le="${seconds}"`)
  return sumOf('parkway_event_loop_stall_seconds_count') - bounded
}
