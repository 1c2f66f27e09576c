import { buildRoutes } from '../src/app/build/build-routes.ts'
import { loadConfig } from '../src/app/settings/config.ts'
import { buildOpenApi } from '../src/http/reference/openapi.ts'

type RouteOptions = Parameters<typeof buildRoutes>[0]

/** Builds the OpenAPI document from the route table of this gateway. Needs no database and starts nothing. */
export function describeApi(): ReturnType<typeof buildOpenApi> {
  const config = loadConfig({ environment: {}, file: null })
  const given = { config } satisfies Partial<RouteOptions>
  const options = new Proxy(given, {
    get: (target, name) => (name === 'config' ? target.config : absentPart),
  })
  return buildOpenApi(buildRoutes(options as RouteOptions), { version: '0' })
}

/** Replaces the modules that routes call only when they handle a request. */
const absentPart: unknown = new Proxy(() => absentPart, { get: () => absentPart })
