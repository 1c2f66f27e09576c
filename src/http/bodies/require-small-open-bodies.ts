import type { HotRoute, Route } from '../route.ts'
import { isHotRoute } from '../route.ts'

/** As much as the event of a payment provider needs. Anybody can send bodies to routes without a key. */
export const OPEN_BODY_BYTES_MAX = 256 * 1024

/** Throws at the start of the gateway if a route without a key reads large bodies. */
export function requireSmallOpenBodies(routes: readonly (Route | HotRoute)[]): void {
  for (const route of routes) {
    if (route.access !== null || route.admit !== undefined) continue
    if (route.method === 'GET' || isHotRoute(route)) continue
    const { method, path, form, bodyLimitBytes } = route
    if (form !== undefined || bodyLimitBytes === undefined || bodyLimitBytes > OPEN_BODY_BYTES_MAX)
      throw new Error(
        `${method} ${path} needs no key: it must set bodyLimitBytes, at most ${OPEN_BODY_BYTES_MAX}, and take no form`,
      )
  }
}
