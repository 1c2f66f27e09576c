/** Returns what says once for each model that it will end, from the headers of its answers. */
export function createDeprecationWarner(warn: (sentence: string) => void): (headers: Headers) => void {
  const warned = new Set<string>()
  return (headers) => {
    if (!headers.has('deprecation')) return
    const model = headers.get('x-gateway-model') ?? ''
    if (warned.has(model) || warned.size >= WARNED_MAX) return
    warned.add(model)
    warn(describeDeprecation(model, headers))
  }
}

/** Somebody who asks many models knows by then. */
const WARNED_MAX = 20

function describeDeprecation(model: string, headers: Headers): string {
  const endMs = Date.parse(headers.get('sunset') ?? '')
  const successor = /^<\/v1\/models\/([^>]+)>; rel="successor-version"$/.exec(headers.get('link') ?? '')?.[1]
  const what = Number.isNaN(endMs) ? 'is deprecated' : `ends on ${new Date(endMs).toISOString().slice(0, 10)}`
  const advice = successor === undefined ? '' : ` Use "${decode(successor)}" instead.`
  return `Warning: the model "${model}" ${what}.${advice}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
