import { setTimeout as delay } from 'node:timers/promises'
import type { RunningCase } from './running-case.ts'
import type { Answered, SentRequest } from './send-request.ts'

const POLL_MS = 10
const ROUTES = { background: '/v1/responses', run: '/v1/compare/runs' } as const
const ENDED = /^(completed|failed|cancelled|incomplete)$/

/** Returns the route of the work that a request started, or null if its work ends with its answer. */
function routeOf({ made }: RunningCase, text: string): string | null {
  if (made.wire !== 'background' && made.wire !== 'run') return null
  const id = /"id":\s*"([^"]+)"/.exec(text)?.[1]
  return id === undefined ? null : `${ROUTES[made.wire]}/${id}`
}

/** Whether the work goes on when its client hangs up. */
export function isDetached({ made }: RunningCase): boolean {
  return made.wire === 'background' || made.wire === 'run'
}

/** Cancels the work. Other work is cancelled by hanging up. */
export async function cancelWork(running: RunningCase, sent: SentRequest): Promise<void> {
  const route = routeOf(running, sent.text)
  if (route === null) sent.leave()
  else await running.ask('POST', `${route}/cancel`)
}

/** Waits until the work that a request started has ended. */
export async function finishWork(running: RunningCase, { status, text }: Answered): Promise<void> {
  const route = routeOf(running, text)
  if (route === null || (status !== null && status >= 300)) return
  for (;;) {
    const { status: state, error } = await running.ask('GET', route)
    if (typeof state !== 'string' && error === undefined) throw new Error(`${route} has no status`)
    if (typeof state !== 'string' || ENDED.test(state)) return
    await delay(POLL_MS)
  }
}

/** Returns whether a vendor works and waits; false if the request or its work ended before that. */
export async function isWorking(running: RunningCase, sent: SentRequest): Promise<boolean> {
  const over = sent.answered
    .then((answered) => finishWork(running, answered))
    // A gateway that was killed answers nothing more.
    .then(
      () => false,
      () => false,
    )
  return Promise.race([running.planned.paused.then(() => true), over])
}
