import { findExcess, JsonExcess } from './json-limits.ts'

export { JSON_DEPTH_MAX, JsonExcess } from './json-limits.ts'

/**
 * Parses JSON from outside: from clients, upstreams and files. Throws a `SyntaxError`, also for JSON that is nested too deep or
 * has too many values.
 */
export function parseJson(text: string): unknown {
  const excess = findExcess(text)
  if (excess !== null) throw new JsonExcess(excess)
  return JSON.parse(text)
}
