import { gatewaySilent } from './api-failure.ts'

/**
 * Returns a `fetch` that fails if a GET request receives nothing for a while: neither an answer nor the next part of it. The time of
 * the whole answer is not bounded, because it may be long. Other methods are not bounded, because a model may need long to answer.
 */
export function createBoundedFetch(silenceMsMax: number) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'GET') return fetch(request)
    const boundMs = silenceMsMax + waitMsOf(request)
    const silence = new AbortController()
    const { origin } = new URL(request.url)
    const timer = setTimeout(() => silence.abort(gatewaySilent(origin, boundMs)), boundMs)
    try {
      const signal = AbortSignal.any([request.signal, silence.signal])
      const response = await fetch(request, { signal })
      timer.refresh()
      return followBody(response, timer)
    } catch (error) {
      clearTimeout(timer)
      throw error
    }
  }
}

/** The time for which the gateway is asked to hold its answer back until something changes. */
function waitMsOf({ url }: Request): number {
  return Number(new URL(url).searchParams.get('wait') ?? 0) * 1_000
}

/** Starts the timer again with each part of the body, and stops it at the end. */
function followBody(response: Response, timer: NodeJS.Timeout): Response {
  // Nobody may read the body, so the timer must not keep the program running.
  timer.unref()
  const { body, status, statusText, headers } = response
  if (body === null) {
    clearTimeout(timer)
    return response
  }
  const followed = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      timer.refresh()
      controller.enqueue(bytes)
    },
    flush: () => clearTimeout(timer),
  })
  return new Response(body.pipeThrough(followed), { status, statusText, headers })
}
