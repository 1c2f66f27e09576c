import { Cancellation } from './cancellation.ts'

/** Work that goes on for a while after the client left, because somebody is paid for it either way. */
export interface Linger {
  /** Cancelled with the client's reason, so long after the client left. */
  readonly cancellation: Cancellation
  /** From here on it is cancelled together with the client. */
  follow(): void
  release(): void
}

export function lingerAfter(client: Cancellation, lingerMs: number): Linger {
  const cancellation = new Cancellation()
  let timer: NodeJS.Timeout | null = null
  let isFollowing = false
  const onLeave = (reason: unknown): void => {
    if (isFollowing) cancellation.cancel(reason)
    else timer = setTimeout(() => cancellation.cancel(reason), lingerMs).unref()
  }
  client.onCancel(onLeave)
  return {
    cancellation,
    follow: () => {
      isFollowing = true
      if (client.isCancelled) cancellation.cancel(client.reason)
    },
    release: () => {
      client.offCancel(onLeave)
      if (timer !== null) clearTimeout(timer)
    },
  }
}
