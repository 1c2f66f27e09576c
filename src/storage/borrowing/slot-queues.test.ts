import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { reclaimSlots } from './borrowed-slots.ts'
import { createSlotQueues, type QueuedSlot, type SlotQueue, type SlotQueueLimits } from './slot-queues.ts'
import { declareDead, startSlotProcesses, type SlotProcesses } from './testing/slot-processes.ts'

let processes: SlotProcesses
let pools = 0

beforeAll(async () => {
  processes = await startSlotProcesses()
})

afterAll(() => processes.close())

async function startQueues() {
  const { messageBus, borrower } = await processes.start()
  return {
    queues: createSlotQueues({ database: processes.database, messageBus, borrower }),
    borrower,
  }
}

/** Opens one pool from two processes. */
async function startPool(limits: Partial<SlotQueueLimits> = {}) {
  const [first, second] = await Promise.all([startQueues(), startQueues()])
  pools += 1
  const settings = { slots: 1, waitersMax: 10, waitMsMax: 20_000, ...limits }
  const name = `pool-${pools}`
  return {
    name,
    here: first.queues.queue(name, settings),
    there: second.queues.queue(name, settings),
    borrower: first.borrower,
    read: async () => (await second.queues.readStates([name])).find(({ id }) => id === name),
    close: () => Promise.all([first.queues.close(), second.queues.close()]),
  }
}

async function acquire(
  queue: SlotQueue,
  accountId: string = randomUUID(),
  cancellation = new Cancellation(),
) {
  const slot = await queue.acquire(accountId, cancellation)
  if (!slot.isGranted) throw new Error(`refused: ${slot.reason}`)
  return slot
}

/** Takes a slot that nobody else wants, and releases it when somebody does. */
async function acquireBehind(queue: SlotQueue, cancellation = new Cancellation()) {
  const taken: { slot: QueuedSlot | null } = { slot: null }
  const slot = await queue.acquireInBackground(() => taken.slot?.release(), cancellation)
  if (!slot.isGranted) throw new Error(`refused: ${slot.reason}`)
  taken.slot = slot
  return slot
}

describe('a queue for slots', () => {
  it('serves accounts in turn and each in the order of arrival, over several processes', async () => {
    const pool = await startPool()
    const [alice, bob, carol] = [randomUUID(), randomUUID(), randomUUID()]
    const running = await acquire(pool.here)
    const served: { name: string; slot: QueuedSlot }[] = []
    let waiting = 0
    for (const [name, account, queue] of [
      ['alice 1', alice, pool.here],
      ['alice 2', alice, pool.there],
      ['alice 3', alice, pool.here],
      ['bob 1', bob, pool.there],
      ['bob 2', bob, pool.here],
      ['carol 1', carol, pool.there],
    ] as const) {
      void acquire(queue, account).then((slot) => served.push({ name, slot }))
      waiting += 1
      await expect.poll(async () => (await pool.read())?.queued).toBe(waiting)
    }
    running.release()
    for (let index = 0; index < waiting; index += 1) {
      await expect.poll(() => served.length).toBe(index + 1)
      served[index]?.slot.release()
    }
    expect(served.map(({ name }) => name)).toEqual([
      'alice 1',
      'bob 1',
      'carol 1',
      'alice 2',
      'bob 2',
      'alice 3',
    ])
    await pool.close()
  })

  it('keeps a released slot in the process while no request waits', async () => {
    const pool = await startPool()
    const slot = await acquire(pool.here)
    slot.release()
    slot.release()
    expect(pool.here.acquire(randomUUID(), new Cancellation())).not.toBeInstanceOf(Promise)
    await pool.close()
  })

  it('gives an idle slot of one process to another', async () => {
    const pool = await startPool()
    const slot = await acquire(pool.here)
    slot.release()
    await acquire(pool.there)
    await pool.close()
  })

  it('is full at its limit, and returns a retry time', async () => {
    const pool = await startPool({ waitersMax: 1 })
    const account = randomUUID()
    const slot = await acquire(pool.here, account)
    const waiting = acquire(pool.here, account)
    await expect.poll(async () => (await pool.read())?.queued).toBe(1)
    expect(await pool.there.acquire(account, new Cancellation())).toEqual({
      isGranted: false,
      reason: 'full',
      retryAfterMs: 1000,
    })
    slot.release()
    await waiting
    await pool.close()
  })

  it('a queue for slots that is full makes room for an account that waits for less', async () => {
    const pool = await startPool({ waitersMax: 2 })
    const greedy = randomUUID()
    const running = await acquire(pool.here)
    const first = acquire(pool.here, greedy)
    await expect.poll(async () => (await pool.read())?.queued).toBe(1)
    const last = pool.here.acquire(greedy, new Cancellation())
    await expect.poll(async () => (await pool.read())?.queued).toBe(2)
    expect(await pool.there.acquire(greedy, new Cancellation())).toMatchObject({ reason: 'full' })
    const modest = acquire(pool.there)
    expect(await last).toMatchObject({ isGranted: false, reason: 'full' })
    running.release()
    ;(await first).release()
    await modest
    await pool.close()
  })

  it('can be left by a cancelled request', async () => {
    const pool = await startPool()
    const running = await acquire(pool.here)
    const cancellation = new Cancellation()
    const gone = acquire(pool.there, randomUUID(), cancellation)
    await expect.poll(async () => (await pool.read())?.queued).toBe(1)
    cancellation.cancel(new Error('the client left'))
    await expect(gone).rejects.toThrow('the client left')
    await expect.poll(async () => (await pool.read())?.queued).toBe(0)
    running.release()
    await acquire(pool.there)
    await pool.close()
  })

  it('refuses requests after the maximum wait', async () => {
    const pool = await startPool({ waitMsMax: 200 })
    await acquire(pool.here)
    expect(await pool.there.acquire(randomUUID(), new Cancellation())).toMatchObject({ reason: 'timeout' })
    await pool.close()
  })

  it('gives the slots of a dead process to waiting requests', async () => {
    const pool = await startPool({ slots: 2 })
    await Promise.all([acquire(pool.here), acquire(pool.here)])
    const waiting = acquire(pool.there)
    await expect.poll(async () => (await pool.read())?.queued).toBe(1)
    await declareDead(processes.database, pool.borrower.id, reclaimSlots)
    await waiting
    await pool.close()
  })

  it('gives its free slots to work in the background, in the order of its arrival', async () => {
    const pool = await startPool({ slots: 2 })
    const first = await acquireBehind(pool.here)
    await acquireBehind(pool.here)
    let isServed = false
    const third = acquireBehind(pool.here).then((slot) => {
      isServed = true
      return slot
    })
    await expect.poll(async () => (await pool.read())?.inUse).toBe(2)
    expect(isServed).toBe(false)
    first.release()
    await third
    await pool.close()
  })

  it('takes a slot from work in the background of another process for a request, and none for further such work', async () => {
    const pool = await startPool({ slots: 2 })
    const occupied = [await acquireBehind(pool.here), await acquireBehind(pool.here)]
    let isServed = false
    const leaving = new Cancellation()
    const further = acquireBehind(pool.there, leaving).then(() => {
      isServed = true
    })
    const slot = await acquire(pool.there)
    expect(isServed).toBe(false)
    leaving.cancel(new Error('left'))
    await expect(further).rejects.toThrow('left')
    slot.release()
    for (const own of occupied) own.release()
    await pool.close()
    expect(await pool.read()).toMatchObject({ inUse: 0, queued: 0 })
  })

  it('refuses work in the background that gets no slot for a long time', async () => {
    const pool = await startPool({ waitMsMax: 60 })
    await acquire(pool.here)
    await expect(acquireBehind(pool.there)).rejects.toThrow('refused: timeout')
    await pool.close()
  })

  it('never has more in use than there are slots, whatever happens', async () => {
    const pool = await startPool({ slots: 3, waitersMax: 200 })
    let inUse = 0
    let most = 0
    const work = async (queue: SlotQueue, index: number) => {
      const cancellation = new Cancellation()
      if (index % 5 === 0) setTimeout(() => cancellation.cancel(new Error('left')), index)
      try {
        const isBehind = index % 3 === 0
        const slot = await (isBehind
          ? acquireBehind(queue, cancellation)
          : acquire(queue, undefined, cancellation))
        inUse += 1
        most = Math.max(most, inUse)
        await new Promise((resolve) => setTimeout(resolve, index % 7))
        inUse -= 1
        slot.release()
      } catch {
        expect(cancellation.isCancelled).toBe(true)
      }
    }
    const all = Array.from({ length: 120 }, (_, index) => work(index % 2 ? pool.here : pool.there, index))
    await Promise.all(all)
    expect(most).toBe(3)
    await pool.close()
    expect(await pool.read()).toMatchObject({ inUse: 0, queued: 0 })
  })
})
