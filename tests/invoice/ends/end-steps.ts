import { setTimeout as delay } from 'node:timers/promises'
import type { EndName } from '../case.ts'
import { DRAINS_PER_ACCOUNT_MAX } from '../start-stage.ts'
import { cancelWork, finishWork, isWorking } from './background-work.ts'
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
    await running.planned.untilStopped()
    running.planned.release()
    await finish(running, sent)
  },
  cancelled: async (running) => {
    const sent = running.send()
    if (await isWorking(running, sent)) await cancelWork(running, sent)
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
    if (await isWorking(running, sent)) await delay(EXPIRY_MS)
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
    running.planned.release()
    for (const sent of all) await finish(running, sent)
  },
}

const POLL_MS = 5
/** Longer than a key of such a case lives. */
const EXPIRY_MS = 1_600

/** Waits until the client has what the vendor has sent, if its answer is a stream. */
async function received({ made, planned }: RunningCase, sent: SentRequest): Promise<void> {
  if (made.isStream) await sent.received(planned.sentLength)
}

async function finish(running: RunningCase, sent: SentRequest): Promise<void> {
  const answered = await sent.answered
  running.statuses.push(answered.status)
  await finishWork(running, answered)
}
