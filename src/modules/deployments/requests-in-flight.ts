import type { Cancellation } from '../../kernel/cancellation.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'

/** Requests of this process to engines, by deployment. */
export interface RequestsInFlight {
  /** Returns what ends it. */
  begin(deploymentId: string, cancellation: Cancellation): () => void
  /** The engine is about to be stopped: what has not ended by then is cut. */
  drain(deploymentId: string): void
}

/**
 * Cuts requests whose engine is stopped at the limit that the reconciler keeps too. An engine that is ended breaks its connections at
 * some moment and in some way; here a client is told why, and what was delivered is settled.
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
