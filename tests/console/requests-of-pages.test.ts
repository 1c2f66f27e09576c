import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { NO_BROWSER, openConsole } from './open-console.ts'

const REQUESTS_MAX = 3
/** Asked by the frame around every page. */
const SHELL = /^\/v1\/tenants\/me$/

interface Call {
  readonly path: string
  readonly beganAt: number
  endedAt: number
}

const PAGES = [
  '/',
  '/playground',
  '/playground?kind=image',
  '/models',
  '/models/gpt-4o-mini',
  '/tasks',
  '/batches',
  '/files',
  '/compare',
  '/compare?tab=runs',
  '/compare?tab=leaderboard',
  '/deployments',
  '/deployments/new',
  '/usage',
  '/log',
  '/keys',
  '/billing',
  '/organization',
  '/organization?tab=projects',
]

describe.skipIf(NO_BROWSER !== null)('a page of the console', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())

  test('loads with at most three requests, none of which waits for another', async () => {
    const { page, goto, close } = await openConsole(gateway)
    let calls: Call[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (!pathname.startsWith('/v1/') || SHELL.test(pathname)) return
      const call = { path: pathname + search, beganAt: performance.now(), endedAt: Infinity }
      calls.push(call)
      void request.response().then(() => {
        call.endedAt = performance.now()
      })
    })
    const found: Record<string, string[]> = {}
    for (const path of PAGES) {
      calls = []
      await goto(path)
      if (calls.length > REQUESTS_MAX || depthOf(calls) > 1)
        found[path] = calls.map(({ path: asked }) => asked)
    }
    expect(found).toEqual({})
    await close()
  })
})

/** The longest chain of calls of which each began after the one before had ended. */
function depthOf(calls: readonly Call[]): number {
  const depths: number[] = []
  for (const { beganAt } of calls) {
    const before = depths.filter((_, index) => (calls[index]?.endedAt ?? Infinity) < beganAt)
    depths.push(1 + Math.max(0, ...before))
  }
  return Math.max(0, ...depths)
}
