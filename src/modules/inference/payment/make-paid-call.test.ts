import { describe, expect, it } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { createCatalog } from '../../catalog/catalog.ts'
import type { Hold } from '../../ledger/ledger.ts'
import { AbandonedWork } from '../disconnect/drains.ts'
import { createInferenceRecord } from '../inference-record.ts'
import type { ContinuedWork } from '../disconnect/continue-after-disconnect.ts'
import { makePaidCall, type CallSteps } from './make-paid-call.ts'
import { RequestBill } from './request-bill.ts'

const SOURCE = {
  models: [
    {
      id: 'm',
      name: 'M',
      vendor: 'Us',
      category: 'llm',
      capabilities: [],
      price: { unit: 'request', usd: 1 },
      routes: [{ provider: 'first', model: 'm' }],
    },
  ],
}

/** Makes a call that holds 10 and runs the steps of the test. Records what happens to the hold. */
function call(steps: Partial<CallSteps<object, undefined, string>>, continuedWork?: ContinuedWork) {
  const events: string[] = []
  const hold: Hold = {
    amountNanoUsd: 10n,
    balanceNanoUsd: 90n,
    cover: () => null,
    isShort: false,
    settle: async ({ costNanoUsd, isDelivered }) =>
      void events.push(`settled ${costNanoUsd}${isDelivered ? ', delivered' : ''}`),
    release: () => void events.push('released'),
  }
  const [model] = createCatalog({ source: SOURCE }).list({})
  if (model === undefined) throw new Error('no model')
  const cancellation = new Cancellation()
  const record = createInferenceRecord('chat')
  const unlimited = {
    projectId: null,
    groupIds: [],
    permissions: new Set<never>(),
    allowedModels: null,
    requestsPerMinute: null,
    limitNanoUsd: null,
    isOperator: true,
  }
  const ids = { accountId: 'a', keyId: 'k' }
  const caller = { ...ids, environment: 'dev' as const, scopes: new Set<never>(), ...unlimited }
  const asked = { caller, body: {}, text: '{}', bytes: 2, requestId: 'req_1', record, cancellation }
  const resolved = { asked, model, requestedModel: 'm', routes: [], startedMs: 0, affinity: () => null }
  const answer = makePaidCall<object, undefined, string>(
    {
      prepare: () => {
        events.push('held')
        return {
          hold,
          request: asked,
          candidates: [],
          plan: undefined,
          ...(continuedWork && { continuedWork }),
        }
      },
      perform: async ({ bill }) => {
        bill.charge(4n, 't')
        return 'answer'
      },
      ...steps,
    },
    resolved,
    (held, request, { startedMs }) =>
      new RequestBill({
        hold: held,
        ceilingNanoUsd: () => 1_000n,
        vendorCostOf: () => undefined,
        request,
        startedMs,
        onCompleted: () => {},
        onUncovered: () => {},
      }),
  )
  return { answer, events, record }
}

describe('a paid call', () => {
  it('charges the cost of the answer before the answer is returned', async () => {
    const { answer, events, record } = call({})
    expect(await answer).toBe('answer')
    expect([events, record.outcome]).toEqual([['held', 'settled 4'], 'completed'])
  })

  it('calls no upstream and charges nothing if no credit can be held', async () => {
    const refused = new AppError('insufficient_balance', 'no')
    const perform = () => Promise.reject(new Error('somebody was asked'))
    const { answer, events, record } = call({ prepare: () => Promise.reject(refused), perform })
    await expect(answer).rejects.toBe(refused)
    expect([events, record.outcome]).toEqual([[], 'failed'])
  })

  it('releases its hold if upstreams fail, and explains the failure', async () => {
    const error = new UpstreamError('first: no', { failure: 'connect', provider: 'first' })
    const { answer, events, record } = call({ perform: () => Promise.reject(error) })
    await expect(answer).rejects.toMatchObject({ code: 'provider_error' })
    expect([events, record.outcome]).toEqual([['held', 'released'], 'failed'])
  })

  it('leaves the bill to an answer that is still open', async () => {
    const { answer, events } = call({ isOpen: () => true })
    await answer
    expect(events).toEqual(['held'])
  })

  it('charges an answer that was made for a client that disconnected', async () => {
    const { answer, events, record } = call({
      perform: async ({ bill, request }) => {
        bill.charge(4n, 't')
        request.cancellation.cancel(new ClientDisconnected('gone'))
        return 'answer'
      },
    })
    await answer
    expect([events, record.outcome]).toEqual([['held', 'settled 4, delivered'], 'disconnected'])
  })

  it('charges once for work that a vendor bills although it was not read', async () => {
    const { answer, events } = call({
      perform: () => Promise.reject(new AbandonedWork('nobody reads on')),
      chargeUnread: ({ bill }) => bill.charge(7n, 't'),
    })
    await expect(answer).rejects.toBeInstanceOf(AbandonedWork)
    expect(events).toEqual(['held', 'settled 7, delivered'])
  })

  it.each([true, false])(
    'charges work that continued alone only if it was abandoned: %s',
    async (isAbandoned) => {
      let released = 0
      const none = () => {}
      const continuedWork: ContinuedWork = {
        cancellation: new Cancellation(),
        isAbandoned,
        noteAsked: none,
        noteRefused: none,
        follow: none,
        release: () => (released += 1),
      }
      const steps = {
        perform: () => Promise.reject(new Error('cut')),
        chargeUnread: ({ bill }: { bill: RequestBill }) => bill.charge(7n, 't'),
      }
      const { answer, events } = call(steps, continuedWork)
      await expect(answer).rejects.toThrow('cut')
      expect(events).toEqual(['held', isAbandoned ? 'settled 7, delivered' : 'released'])
      expect(released).toBe(1)
    },
  )
})
