import type { IncomingMessage } from 'node:http'
import type { ConsoleSite } from './console-site/console-site.ts'
import { isPlainPath, readOtherPaths } from './other-paths.ts'

interface PathRoute {
  readonly method: string
  readonly path: string
}

/** The paths of all routes. */
export interface KnownPaths {
  /** Returns the methods that a path takes; none if it is not the path of a route. */
  methodsOf(path: string): string[]
  /** Returns the URL of the route that a client means by another path. Null if there is none, or the path is a route itself. */
  findMeant(incoming: IncomingMessage): { readonly url: string; readonly model: string | null } | null
}

export function createKnownPaths(
  routes: readonly PathRoute[],
  consoleSite: Pick<ConsoleSite, 'takes'> | null,
): KnownPaths {
  // Patterns with parameters are looked up by their number of segments.
  const byLength = Map.groupBy(routes, ({ path }) => path.split('/').length)
  const matching = (path: string): PathRoute[] =>
    byLength.get(path.split('/').length)?.filter((route) => matchPath(route.path, path)) ?? []
  const exact = new Set(routes.map(({ path }) => path))
  const isRoute = (path: string): boolean => exact.has(path) || matching(path).length > 0

  return {
    methodsOf: (path) => [...new Set(matching(path).map(({ method }) => method))],
    findMeant({ method = '', url = '', headers }) {
      const query = url.indexOf('?')
      const path = query === -1 ? url : url.slice(0, query)
      if (isPlainPath(path) || isRoute(path)) return null
      const meant = readOtherPaths(path).find((other) => isRoute(other.path) && mayStandFor(path, other.path))
      // A person who opens a page of the console gets the page.
      if (meant === undefined || consoleSite?.takes({ method, url, headers }) === true) return null
      return { url: query === -1 ? meant.path : meant.path + url.slice(query), model: meant.model }
    },
  }
}

const OPERATOR_PATHS = '/v1/admin/'

/** Operators close their routes at a proxy by path, so that these have no other path. */
function mayStandFor(path: string, meant: string): boolean {
  return !meant.startsWith(OPERATOR_PATHS) || path === `${meant}/`
}

/** Whether a path matches a route pattern with parameters such as `:id`. */
function matchPath(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const given = path.split('/')
  return (
    expected.length === given.length &&
    expected.every((segment, index) =>
      segment.startsWith(':') ? given[index] !== '' : segment === given[index],
    )
  )
}
