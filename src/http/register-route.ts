import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authenticateHook } from './authenticate.ts'
import type { RunOnce } from './idempotency.ts'
import type { StrangerGuard } from './limit-strangers.ts'
import { parseBody } from './parse-body.ts'
import { handleOnce } from './replay-answer.ts'
import type { Route } from './route.ts'
import { compileCheck, compileConversion } from './validate.ts'

/** Puts one line of the route table into the framework: authenticate, parse, check, then the route's own call. */
export function registerRoute(
  app: FastifyInstance,
  route: Route,
  { authenticate, admitVisitor }: StrangerGuard,
  runOnce: RunOnce,
): void {
  const checkBody = route.body ? compileCheck(route.body) : null
  const convertQuery = route.query ? compileConversion(route.query) : null
  const convertParams = route.params ? compileConversion(route.params) : null

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const body = checkBody ? parseBody(typeof request.body === 'string' ? request.body : '') : undefined
    checkBody?.(body)
    const input: Parameters<Route['handle']>[0] = {
      body,
      query: convertQuery ? convertQuery(request.query) : request.query,
      params: convertParams ? convertParams(request.params) : request.params,
      get rawBody() {
        return Buffer.isBuffer(request.body) ? request.body : NO_BYTES
      },
      get caller() {
        if (request.exchange.caller) return request.exchange.caller
        throw new Error(`the route ${route.path} has no authentication and so no caller`)
      },
      headers: request.headers,
      exchange: request.exchange,
      reply,
    }
    const handle = (): Promise<unknown> => route.handle(input)
    const isOnce = route.method === 'POST' && route.scope !== null
    const result = await (isOnce ? handleOnce(runOnce, request, reply, handle) : handle())
    return result === undefined ? reply : result
  }

  const register = (scope: FastifyInstance): void => {
    scope.route({
      method: route.method,
      url: route.path,
      handler,
      ...(route.scope === null ? {} : { onRequest: authenticateHook(authenticate, route.scope) }),
      ...(isOpenPage(route) ? { onRequest: async ({ raw }) => admitVisitor(raw) } : {}),
      ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    })
  }
  if (route.takesRawBody === undefined) register(app)
  else {
    app.register(async (scope) => {
      takeRawBodies(scope)
      register(scope)
    })
  }
}

const NO_BYTES = Buffer.alloc(0)

// A scope of its own: every other route keeps refusing what is not JSON.
function takeRawBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    request.exchange.requestBytes = body.length
    done(null, body)
  })
}

/** What machines ask again and again, to know whether the gateway is well. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

function isOpenPage({ method, path, scope }: Route): boolean {
  return scope === null && method === 'GET' && !PROBES.has(path)
}
