import { takeRawBodies } from './bodies/take-raw-bodies.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { authenticateHook } from './authenticate.ts'
import { IDEMPOTENCY_HEADER, type RunOnce } from './idempotency.ts'
import type { UnauthenticatedGuard } from './connections/guard-unauthenticated.ts'
import { compileFormBody } from './multipart/form-body.ts'
import type { Form, FormRoom, UploadedFile } from './multipart/form.ts'
import type { RoomKeeper, TakeFiles } from './multipart/take-files.ts'
import type { BodiesInWork } from './bodies/bodies-in-work.ts'
import { isLargeText, parseLargeStorableBody, parseStorableBody } from './bodies/parse-body.ts'
import type { Exchange } from './exchange.ts'
import { PROBE_PATHS } from './connections/probe-paths.ts'
import { requirePlainBody } from './bodies/require-plain-body.ts'
import { parseUrlEncoded } from './bodies/parse-url-encoded.ts'
import { compileUnhonoured } from './bodies/refuse-unhonoured.ts'
import { handleOnce } from './answers/replay-answer.ts'
import type { Route } from './route.ts'
import { compileCheck, compileConversion } from './bodies/validate.ts'
import { tellAsOf, type ReadOld } from './answers/tell-as-of.ts'
import { nextLoopTurn } from '../kernel/turns/loop-turns.ts'
import { AppError } from '../kernel/app-error.ts'
import { tagCaller, TAGS_HEADER } from '../modules/keys/keys.ts'
import { isRecord } from '../kernel/is-record.ts'
import type { Idempotency } from '../modules/idempotency/idempotency.ts'

/** Runs work of an account, whose queries then share the database fairly with those of other accounts. */
export type RunForAccount = <Result>(accountId: string, work: () => Promise<Result>) => Promise<Result>

/** What the server provides to all routes. */
export interface RouteSurroundings {
  readonly guard: UnauthenticatedGuard
  readonly runOnce: RunOnce
  readonly idempotency: Pick<Idempotency, 'hasEnded'>
  readonly takeFiles: TakeFiles
  readonly bodyBytesMax: number
  readonly bodiesInWork: BodiesInWork
  readonly runForAccount: RunForAccount
  readonly readOld: ReadOld
}

/** Registers the routes. Those that take other bodies than JSON are in a scope for each kind of body, because a scope takes long. */
export function registerRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  surroundings: RouteSurroundings,
): void {
  for (const [takeBodies, alike] of Map.groupBy(routes, bodiesOf)) {
    const register = (scope: FastifyInstance): void => {
      for (const route of alike) registerRoute(scope, route, surroundings)
    }
    if (takeBodies === null) {
      register(app)
      continue
    }
    const scoped = async (scope: FastifyInstance): Promise<void> => {
      takeBodies(scope)
      register(scope)
    }
    // Fastify looks for a function without a name in every loaded module.
    app.register(Object.assign(scoped, { [Symbol.for('fastify.display-name')]: 'bodies' }))
  }
}

/** Returns what lets a scope take the bodies of a route, the same for routes that share a scope. Null for JSON. */
function bodiesOf(route: Route): ((scope: FastifyInstance) => void) | null {
  if (route.form) return acceptForms
  if (route.takesRawBody) return (scope) => takeRawBodies(scope, route)
  if (route.spooledBodyBytesMax !== undefined) return acceptSpooled
  return route.takesUrlEncoded ? takeUrlEncoded : null
}

/** Registers one route with the framework: authenticate, parse, validate, then call the route. */
function registerRoute(app: FastifyInstance, route: Route, surroundings: RouteSurroundings): void {
  const { guard, runOnce, takeFiles, runForAccount, readOld, idempotency } = surroundings
  const readInput = compileInput(route, surroundings)
  const isOnce = route.method === 'POST' && route.access !== null

  const run = (request: FastifyRequest, reply: FastifyReply, given: GivenInput): Promise<unknown> => {
    const { exchange } = request
    if (route.takesTags !== undefined && exchange.caller !== null) {
      const body = route.takesTags === 'metadata' ? given.input.body : null
      exchange.caller = tagCaller(exchange.caller, { header: request.headers[TAGS_HEADER], body })
    }
    const input: Parameters<Route['handle']>[0] = {
      ...given.input,
      files: given.files,
      room: given.room,
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
    const work = isOnce ? handleOnce(runOnce, request, reply, { sent: given.sent, work: handle }) : handle()
    request.exchange.work = work
    return work
  }

  const convertParams = route.params ? compileConversion(route.params) : null
  const roomKeeperOf = ({ exchange, params, headers }: FastifyRequest): RoomKeeper | undefined => {
    const { room } = route
    const { caller } = exchange
    if (room === undefined || caller === null) return undefined
    const take = async (bytes: number | null): Promise<FormRoom | null> => {
      try {
        return await room.take(caller, convertParams ? convertParams(params) : params, bytes)
      } catch (error) {
        const key = headers[IDEMPOTENCY_HEADER]
        // What was stored then may be what takes the room now.
        if (typeof key === 'string' && (await idempotency.hasEnded(caller, key))) return null
        throw error
      }
    }
    return { take, release: (taken) => room.release(taken) }
  }

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { exchange, body: sent } = request
    const { form, spooledBodyBytesMax: bytesMax } = route
    if (bytesMax !== undefined) {
      requirePlainBody(request.headers)
      return takeFiles.ofWhole(exchange, bytesMax, async ({ files, fingerprint }) => {
        const input = await readInput(request, null)
        return run(request, reply, { input, files, room: null, sent: fingerprint })
      })
    }
    if (form && sent === FORM_TO_READ) {
      const work = async (read: Form, room: FormRoom | null): Promise<unknown> => {
        const input = await readInput(request, read)
        return run(request, reply, { input, files: read.files, room, sent: read.fingerprint })
      }
      return takeFiles.ofForm(exchange, form, work, roomKeeperOf(request))
    }
    const input = await readInput(request, null)
    if (form === undefined) return run(request, reply, { input, files: [], room: null, sent })
    return takeFiles.ofBody(exchange, form, input.body, (files) =>
      run(request, reply, { input, files, room: null, sent }),
    )
  }

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { caller, admission } = request.exchange
    const accountId = caller?.accountId ?? admission?.accountId ?? null
    const answered = (): Promise<unknown> =>
      route.mayBeOld === true && accountId !== null
        ? readOld(accountId, tellAsOf(reply), () => answer(request, reply))
        : answer(request, reply)
    const result = await (accountId === null ? answered() : runForAccount(accountId, answered))
    return result === undefined ? reply : result
  }

  app.route({
    method: route.method,
    url: route.path,
    handler,
    config: {
      ...(route.wire === undefined ? {} : { wire: route.wire }),
      ...(route.takesCompressedBody === undefined ? {} : { takesCompressedBody: true }),
    },
    ...(route.access === null
      ? {}
      : {
          onRequest: authenticateHook(
            guard,
            route.access,
            route.needsConfirmation === true ? guard.confirmationRequired : null,
          ),
        }),
    ...(route.admit === undefined ? {} : { onRequest: admitHook(route.admit) }),
    ...(isOpenPage(route) ? { onRequest: async ({ raw }) => guard.admitVisitor(raw) } : {}),
    ...bodyLimitOf(route, surroundings.bodyBytesMax),
  })
}

/** Runs before the body is read, as the check of keys does. */
function admitHook(admit: NonNullable<Route['admit']>): onRequestAsyncHookHandler {
  return async ({ exchange, raw }) => {
    exchange.admission = await admit(raw)
  }
}

function bodyLimitOf(
  { access, bodyLimitBytes }: Route,
  bodyBytesMax: number,
): { readonly bodyLimit?: number } {
  const bodyLimit = bodyLimitBytes ?? (access === null ? undefined : bodyBytesMax)
  return bodyLimit === undefined ? {} : { bodyLimit }
}

interface GivenInput {
  readonly input: RouteInput
  readonly files: readonly UploadedFile[]
  readonly room: FormRoom | null
  /** The raw body, or the fingerprint of a form, to recognise a repeated request. */
  readonly sent: unknown
}

type RouteInput = Pick<Parameters<Route['handle']>[0], 'body' | 'query' | 'params'>

/** Returns a function that reads the input of a request and validates it with the schemas of the route. */
function compileInput(
  route: Route,
  { bodiesInWork }: Pick<RouteSurroundings, 'bodiesInWork'>,
): (request: FastifyRequest, form: Form | null) => Promise<RouteInput> {
  const checkBody = route.body && route.spooledBodyBytesMax === undefined ? compileCheck(route.body) : null
  const checkUnhonoured = checkBody && route.body ? compileUnhonoured(route.body) : null
  const formBody = route.form ? compileFormBody(route.form, route.body) : null
  const convertQuery = route.query ? compileConversion(route.query) : null
  const convertParams = route.params ? compileConversion(route.params) : null

  const parse = async (text: string, exchange: Exchange): Promise<unknown> => {
    if (!isLargeText(text)) return parseStorableBody(text)
    const { value, memoryBytes } = await parseLargeStorableBody(text)
    bodiesInWork.count(exchange, memoryBytes)
    // Other requests get their turn between the steps.
    await nextLoopTurn()
    return value
  }
  const readBody = async ({ body: sent, exchange }: FastifyRequest, form: Form | null): Promise<unknown> => {
    const { pathModel: model } = exchange
    if (formBody && form) return formBody.read(model === null ? form : withModelField(form, model))
    if (!checkBody) return undefined
    const text = typeof sent === 'string' ? sent : ''
    const given = route.takesUrlEncoded ? parseUrlEncoded(text) : await parse(text, exchange)
    const body = model !== null && isRecord(given) ? { ...given, model } : given
    checkBody(body)
    formBody?.requireFiles(body, [])
    return body
  }
  const readChecked = async (request: FastifyRequest, form: Form | null): Promise<unknown> => {
    const body = await readBody(request, form)
    checkUnhonoured?.(body)
    if (typeof request.body === 'string' && isLargeText(request.body)) await nextLoopTurn()
    return body
  }
  return async (request, form) => ({
    body: await readChecked(request, form),
    query: convertQuery ? convertQuery(request.query) : request.query,
    params: convertParams ? convertParams(request.params) : request.params,
  })
}

/** Puts the model of the path into a form. */
function withModelField(form: Form, model: string): Form {
  const others = form.fields.filter(({ name }) => name !== 'model')
  return { ...form, fields: [...others, { name: 'model', value: model }] }
}

export const URL_ENCODED = 'application/x-www-form-urlencoded'
const NO_BYTES = Buffer.alloc(0)

function takeUrlEncoded(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(URL_ENCODED, { parseAs: 'string' }, ({ exchange }, body, done) => {
    exchange.requestBytes = body.length
    done(null, body)
  })
  scope.addContentTypeParser('*', (_request, _payload, done) => {
    done(new AppError('unsupported_media_type', `This route takes ${URL_ENCODED}.`))
  })
}

function isOpenPage({ method, path, access, admit }: Route): boolean {
  if (admit !== undefined) return false
  // The console asks for much at once, and its page is in memory.
  return access === null && method === 'GET' && !PROBE_PATHS.has(path) && path !== '/'
}

/** Placeholder for the body of a form that is not read yet. */
const FORM_TO_READ = Symbol('a form to read')

/** Lets the routes of a scope accept forms besides JSON. The route reads the form and deletes its files. */
function acceptForms(scope: FastifyInstance): void {
  scope.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null, FORM_TO_READ))
  scope.addContentTypeParser('*', (_request, _payload, done) => {
    done(new AppError('unsupported_media_type', 'This route takes multipart/form-data or application/json.'))
  })
}

/** Leaves a JSON body unread, which the route then writes to disk. */
function acceptSpooled(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', (_request, _payload, done) => done(null, undefined))
  scope.addContentTypeParser('*', (_request, _payload, done) => {
    done(new AppError('unsupported_media_type', 'This route takes application/json.'))
  })
}
