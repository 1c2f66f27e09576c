import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wholeAccount } from '../../storage/place.ts'
import type { Caller } from '../keys/keys.ts'
import { createTaskStage, orderOf, outcomeOf, type TaskStage } from './testing/task-stage.ts'

let stage: TaskStage
let caller: Caller
beforeAll(async () => {
  stage = await createTaskStage({ isCancelBilled: (provider) => provider === 'billing' })
})
beforeEach(async () => {
  caller = await stage.createCaller(1)
})
afterAll(() => stage.close())

const jobAt = (provider: string) => ({ provider, upstreamModel: 'm', job: { id: 'job-1' } })
const spentNanoUsd = async () => {
  const rows = await stage.database.query<{ cost: bigint }>(
    'SELECT coalesce(sum(cost_nano_usd), 0)::bigint AS cost FROM usage_records WHERE account_id = $1',
    [caller.accountId],
  )
  return rows[0]?.cost ?? 0n
}
const HOLD = 10_000_000n

async function startTask() {
  const { id } = await stage.tasks.create(orderOf(caller))
  const [claim] = await stage.queue.claim(1)
  if (claim === undefined) throw new Error('there is a task to claim')
  return { id, claim, cancel: () => stage.tasks.cancel(wholeAccount(caller.accountId), id) }
}

describe('a cancelled task', () => {
  test('is free before a provider has it', async () => {
    const { cancel } = await startTask()
    expect(await cancel()).toMatchObject({ costNanoUsd: null, refundedNanoUsd: HOLD })
    expect(await spentNanoUsd()).toBe(0n)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('is free at a provider that does not bill it', async () => {
    const { claim, cancel } = await startTask()
    await stage.queue.note({ claim, job: jobAt('generous') })
    expect(await cancel()).toMatchObject({ costNanoUsd: null, refundedNanoUsd: HOLD })
    expect(await spentNanoUsd()).toBe(0n)
  })

  test('is free after the provider refused it', async () => {
    const { claim, cancel } = await startTask()
    await stage.queue.note({ claim, submittingTo: jobAt('billing') })
    await stage.queue.note({ claim, isRefused: true })
    expect(await cancel()).toMatchObject({ costNanoUsd: null, refundedNanoUsd: HOLD })
    expect(await spentNanoUsd()).toBe(0n)
  })

  test('is charged once at a provider that bills it, and keeps reporting that', async () => {
    const { id, claim, cancel } = await startTask()
    await stage.queue.note({ claim, submittingTo: jobAt('billing') })
    await stage.queue.note({ claim, job: jobAt('billing') })
    expect(await cancel()).toMatchObject({ status: 'cancelled', costNanoUsd: HOLD, refundedNanoUsd: 0n })
    await expect(cancel()).rejects.toMatchObject({ code: 'task_not_cancellable' })
    expect(await stage.queue.finish({ claim, end: outcomeOf() })).toBe(false)
    expect(await stage.tasks.read(wholeAccount(caller.accountId), id)).toMatchObject({
      costNanoUsd: HOLD,
      refundedNanoUsd: 0n,
    })
    expect(await spentNanoUsd()).toBe(HOLD)
    expect(await stage.findDifferences()).toEqual([])
  })

  test('waits during its submission to see whether the provider accepts it', async () => {
    const { claim, cancel } = await startTask()
    await stage.queue.note({ claim, submittingTo: jobAt('billing') })
    const cancelled = cancel()
    await stage.queue.note({ claim, isRefused: true })
    expect(await cancelled).toMatchObject({ costNanoUsd: null, refundedNanoUsd: HOLD })
    const other = await startTask()
    await stage.queue.note({ claim: other.claim, submittingTo: jobAt('billing') })
    // The result of this submit is unknown, so the provider may have the job.
    expect(await other.cancel()).toMatchObject({ costNanoUsd: HOLD, refundedNanoUsd: 0n })
    expect(await spentNanoUsd()).toBe(HOLD)
    expect(await stage.findDifferences()).toEqual([])
  })
})
