import type { Cancellation } from '../../kernel/cancellation.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'

/** This process's requests to engines, by deployment. */
export interface RequestsInFlight {
  /** Registers a request. Returns the function that removes it. */
  begin(deploymentId: string, cancellation: Cancellation): () => void
  /** Cancels the current requests after `drainMs`, because their engine stops. */
  drain(deploymentId: string): void
}

/**
 * Cancels requests when the drain time of their engine ends; the reconciler uses the same limit. A stopping engine would break
 * its connections in undefined ways. A cancelled request gives the client a clear error, and the delivered part is settled.
 */
export function createRequestsInFlight({ drainMs }: { readonly drainMs: number }): RequestsInFlight {
  const all = new Map<string, Set<Cancellation>>()
  return {
    begin: (deploymentId, cancellation) => {
      const requests = all.get(deploymentId) ?? new Set()
      all.set(deploymentId, requests.add(cancellation))
      return () => {
        requests.delete(cancellation)
        if (requests.size === 0 && all.get(deploymentId) === requests) all.delete(deploymentId)
      }
    },
    drain: (deploymentId) => {
      const requests = all.get(deploymentId)
      if (requests === undefined) return
      const draining = [...requests]
      setTimeout(() => {
        for (const cancellation of draining) if (requests.has(cancellation)) cancellation.cancel(stopped())
      }, drainMs).unref()
    },
  }
}

function stopped(): UpstreamError {
  return new UpstreamError('the deployment was stopped before the answer was complete', {
    failure: 'cut',
    provider: 'deployment',
  })
}
