import { Cancellation } from '../../kernel/cancellation.ts'
import { ClientDisconnected } from '../../kernel/client-disconnected.ts'
import type { Provider } from '../../providers/provider.ts'
import { AbandonedWork, abandonmentFor, type Drain, type Drains } from './drains.ts'

/** Work that goes on after the client left, because a vendor is paid for it either way. */
export interface Linger {
  /** Cancelled with the client where nobody works for it, else when the bounds of the drains are reached. */
  readonly cancellation: Cancellation
  /** Whether the client left work that nobody waited for to the end: it costs what it was to cost. */
  readonly isAbandoned: boolean
  /** An upstream is given the work now. */
  noteAsked(provider: Pick<Provider, 'whenLeft' | 'refundsCancelled'> | undefined): void
  /** It did not take it, or failed at it. */
  noteRefused(): void
  /** From here on it is cancelled together with the client. */
  follow(): void
  release(): void
}

export function lingerAfter(client: Cancellation, accountId: string, drains: Drains): Linger {
  const cancellation = new Cancellation()
  let drain: Drain | null = null
  let isAsked = false
  let isBilled = false
  const onLeave = (reason: unknown): void => {
    const abandonment = isAsked && isBilled ? abandonmentFor(reason) : null
    if (abandonment !== null) cancellation.cancel(abandonment)
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
      isBilled = provider?.whenLeft !== 'stops' && provider?.refundsCancelled !== true
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
