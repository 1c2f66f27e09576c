import { Cancellation } from '../../../kernel/cancellation.ts'
import { CallerRefused, ClientDisconnected } from '../../../kernel/client-disconnected.ts'
import type { Provider } from '../../../providers/provider.ts'
import { AbandonedWork, type Drain, type Drains } from './drains.ts'

/** Work that continues after the client left, because the vendor bills it anyway. */
export interface ContinuedWork {
  /** Cancelled with the client while no upstream works, otherwise when a drain limit is reached. */
  readonly cancellation: Cancellation
  /** Whether billed work was stopped after the client left. It is charged in full. */
  readonly isAbandoned: boolean
  /** An upstream is being given the work. */
  noteAsked(provider: Pick<Provider, 'onDisconnect' | 'refundsCancelled'> | undefined): void
  /** The upstream refused the work or failed. */
  noteRefused(): void
  /** From now on the work is cancelled together with the client. */
  follow(): void
  release(): void
}

export function continueAfterDisconnect(
  client: Cancellation,
  accountId: string,
  drains: Drains,
): ContinuedWork {
  const cancellation = new Cancellation()
  let drain: Drain | null = null
  let isAsked = false
  let isBilled = false
  const onLeave = (reason: unknown): void => {
    // The price of this work is known from the request, so a refused caller need not wait for its end to be told.
    if (isAsked && isBilled && reason instanceof CallerRefused)
      cancellation.cancel(new AbandonedWork(reason.message, { cause: reason.cause }))
    else if (!isAsked || !(reason instanceof ClientDisconnected)) cancellation.cancel(reason)
    else
      drain = drains.begin(accountId, () => {
        cancellation.cancel(isBilled ? new AbandonedWork('the client left and nobody waits longer') : reason)
      })
  }
  client.onCancel(onLeave)
  return {
    cancellation,
    get isAbandoned() {
      return cancellation.reason instanceof AbandonedWork
    },
    noteAsked: (provider) => {
      isAsked = true
      isBilled = provider?.onDisconnect !== 'stops' && provider?.refundsCancelled !== true
    },
    noteRefused: () => {
      isAsked = false
      if (client.isCancelled) cancellation.cancel(client.reason)
    },
    follow: () => {
      isAsked = false
      if (client.isCancelled) cancellation.cancel(client.reason)
    },
    release: () => {
      client.offCancel(onLeave)
      drain?.end()
    },
  }
}
