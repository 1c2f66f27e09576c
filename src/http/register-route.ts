import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { authenticateHook, type Authenticate } from './authenticate.ts'
import { signalOf } from './request-state.ts'
import type { Route } from './route.ts'
import { compileCheck, compileConversion } from './validate.ts'

const NO_BODY = Buffer.alloc(0)

/** Puts one line of the route table into the server: authenticate, parse, check, then the route's own call. */
export function registerRoute(app: FastifyInstance, route: Route, authenticate: Authenticate): void {
  const checkBody = route.body ? compileCheck(route.body) : null
  const convertQuery = route.query ? compileConversion(route.query) : null
  const convertParams = route.params ? compileConversion(route.params) : null

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : NO_BODY
    const body = checkBody ? parseBody(rawBody) : undefined
    checkBody?.(body)
    const result = await route.handle({
      body,
      rawBody,
      query: convertQuery ? convertQuery(request.query) : request.query,
      params: convertParams ? convertParams(request.params) : request.params,
      get caller() {
        if (request.state.caller) return request.state.caller
        throw new Error(`the route ${route.path} has no authentication and so no caller`)
      },
      requestId: request.id,
      headers: request.headers,
      get signal() {
        return signalOf(request)
      },
      reply,
    })
    return result === undefined ? reply : result
  }

  app.route({
    method: route.method,
    url: route.path,
    handler,
    ...(route.scope === null ? {} : { onRequest: authenticateHook(authenticate, route.scope) }),
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
  })
}

function parseBody(rawBody: Buffer): unknown {
  if (rawBody.length === 0) return {}
  try {
    return JSON.parse(rawBody.toString())
  } catch (error) {
    throw new AppError('invalid_json', 'The body is not valid JSON.', { cause: error })
  }
}
