import { setTimeout as delay } from 'node:timers/promises'
import type { EndName } from '../case.ts'
import { DRAINS_PER_ACCOUNT_MAX } from '../start-stage.ts'
import { cancelWork, finishWork, isDetached, isWorking } from './background-work.ts'
import type { RunningCase } from './running-case.ts'
import type { SentRequest } from './send-request.ts'

/** How a case ends. Each step returns when the client has nothing more to do. */
export const END_STEPS: Readonly<Record<EndName, (running: RunningCase) => Promise<void>>> = {
  crashed: () => Promise.reject(new Error('only a process can crash')),
  whole: async (running) => {
    running.planned.release()
    await finish(running, running.send())
  },
  left: async (running) => {
    const sent = running.send()
    if (!(await isWorking(running, sent))) return finish(running, sent)
    await received(running, sent)
    sent.leave()
    // Work in the background goes on without its client.
    if (!isDetached(running)) await running.planned.untilStopped()
    running.planned.release()
    await finish(running, sent)
  },
  cancelled: async (running) => {
    const sent = running.send()
    if (await isWorking(running, sent)) await cancelWork(running, sent)
    await running.planned.untilStopped()
    running.planned.release()
    await finish(running, sent)
  },
  revoked: async (running) => {
    const sent = running.send()
    if (await isWorking(running, sent)) await running.manage('DELETE', running.keyPath)
    await running.planned.untilStopped()
    running.planned.release()
    await finish(running, sent)
  },
  suspended: async (running) => {
    const path = `/v1/admin/accounts/${running.accountId}`
    const sent = running.send()
    const isSuspended = await isWorking(running, sent)
    if (isSuspended) await running.manage('POST', `${path}/suspend`)
    await running.planned.untilStopped()
    running.planned.release()
    await finish(running, sent)
    if (isSuspended) await running.manage('POST', `${path}/activate`)
  },
  expired: async (running) => {
    const sent = running.send()
    if (await isWorking(running, sent)) await expire(running)
    running.planned.release()
    await finish(running, sent)
  },
  // More than the gateway reads on for one account.
  'many left': async (running) => {
    const all = Array.from({ length: DRAINS_PER_ACCOUNT_MAX + 2 }, () => running.send())
    await Promise.all(all.map((sent) => isWorking(running, sent)))
    let over = 0
    for (const sent of all) void sent.answered.then(() => (over += 1))
    while (over + running.planned.waiting < all.length) await delay(POLL_MS)
    for (const sent of all) await received(running, sent)
    for (const sent of all) sent.leave()
    await running.planned.untilStopped()
    // The vendor's answers come after the limit was reached, not while the gateway still notices that clients left.
    await running.planned.untilRunning(DRAINS_PER_ACCOUNT_MAX)
    running.planned.release()
    for (const sent of all) await finish(running, sent)
  },
}

const POLL_MS = 5
/** How long a key still works that is to expire. Doubled if the machine needs longer to write it. */
const KEY_LIFE_MS = 500
const KEY_LIVES_MAX = 8

/** Lets the key of the request expire, and waits until it has. */
async function expire(running: RunningCase): Promise<void> {
  for (let lives = 0, lifeMs = KEY_LIFE_MS; lives < KEY_LIVES_MAX; lives += 1, lifeMs *= 2) {
    const expiresAtMs = Date.now() + lifeMs
    const body = { expires_at: new Date(expiresAtMs).toISOString() }
    const isSet = await running.manage('PATCH', running.keyPath, body).then(
      () => true,
      () => false,
    )
    if (!isSet) continue
    await delay(Math.max(expiresAtMs - Date.now(), 0) + POLL_MS)
    return
  }
  throw new Error('the key could not be made to expire')
}

/** Waits until the client has what the vendor has sent, if its answer is a stream. */
async function received({ made, planned }: RunningCase, sent: SentRequest): Promise<void> {
  if (made.isStream) await sent.received(planned.sentLength)
}

async function finish(running: RunningCase, sent: SentRequest): Promise<void> {
  const answered = await sent.answered
  running.statuses.push(answered.status)
  await finishWork(running, answered)
}
