import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeGateway } from '../../src/app/compose.ts'
import { loadConfig } from '../../src/app/settings/config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { DescribedAnswers } from './described-answers.ts'
import { LASTING_CATALOG } from './lasting-catalog.ts'
import { removeDirectory } from './remove-directory.ts'

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, or the text if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  readonly body: any
}

export interface TestRequest {
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

export interface TestGateway {
  readonly baseUrl: string
  /** A key with all scopes, in the `dev` environment by default. */
  readonly key: string
  readonly connectionString: string
  request(method: string, path: string, request?: TestRequest): Promise<TestAnswer>
  /** Sends a request and returns the response with an unread body. */
  fetch(method: string, path: string, request?: TestRequest): Promise<Response>
  close(): Promise<void>
}

export interface TestGatewayOptions {
  /** Environment variables, as an operator sets them. */
  readonly settings?: Record<string, string>
  /** An existing database, to run a second gateway on it. */
  readonly connectionString?: string
  readonly key?: string
  /** For tests that inject failures of any status, which the OpenAPI document cannot describe. */
  readonly mayAnswerAnything?: true
  /** Replaces the clock of the machine. */
  readonly machineClock?: Clock
  /** Replaces the measurement of overload. */
  readonly overload?: Parameters<typeof composeGateway>[0]['overload']
  /** Where the log is written, if `LOG_LEVEL` is set. Default: standard output. */
  readonly logFile?: string
}

const KEY = 'pk-dev-TestTestTestTestTestTestTestTestTestTest'

/** Starts a complete gateway on a free port with its own database. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { key = KEY } = options
  const database = options.connectionString === undefined ? await createTestDatabase() : null
  const connectionString = options.connectionString ?? database?.connectionString ?? ''
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-test-'))
  const config = loadConfig({
    environment: {
      PORT: '0',
      PARKWAY_DATA_DIR: dataDir,
      PARKWAY_BOOTSTRAP_KEY: key,
      PARKWAY_DATABASE_POOL_SIZE: '4',
      PARKWAY_SHUTDOWN_GRACE_MS: '2000',
      LOG_LEVEL: 'silent',
      // Gateways of a test may share a database.
      PARKWAY_SEALING_KEY: 'of the tests',
      // No test asks the public hub: nothing listens here.
      HF_ENDPOINT: 'http://127.0.0.1:9',
      // The project `node-http` runs some folders a second time without the fast path.
      PARKWAY_FAST_HTTP: process.env['PARKWAY_FAST_HTTP'] ?? '',
      ...options.settings,
    },
    file: null,
    directory: import.meta.dirname,
  })
  const logger = createLogger({
    level: config.logLevel,
    ...(options.logFile === undefined ? {} : { destination: options.logFile }),
  })
  const gateway = await composeGateway({
    config,
    connectionString,
    logger,
    machineClock: options.machineClock,
    ...(options.overload === undefined ? {} : { overload: options.overload }),
    catalogSource: LASTING_CATALOG,
  })
  const baseUrl = gateway.url
  const answers = new DescribedAnswers()

  const send = async (method: string, path: string, request: TestRequest = {}): Promise<Response> => {
    const authorization = request.key === null ? {} : { authorization: `Bearer ${request.key ?? key}` }
    const body = request.body === undefined ? {} : { body: asText(request.body) }
    const contentType = request.body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...authorization, ...contentType, ...request.headers },
      ...body,
      ...(request.signal ? { signal: request.signal } : {}),
    })
    answers.note(method, path, response)
    return response
  }

  return {
    baseUrl,
    key,
    connectionString,
    fetch: send,
    request: async (method, path, request) => {
      const response = await send(method, path, request)
      const text = await response.text()
      const isJson = /json(?!l)/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
    },
    close: async () => {
      try {
        if (options.mayAnswerAnything !== true) await answers.check(baseUrl)
      } finally {
        await gateway.close()
        await logger.flush()
        await database?.drop()
        // An engine that is being stopped may still write its log.
        await removeDirectory(dataDir)
      }
    },
  }
}

function asText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
