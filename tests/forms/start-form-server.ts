import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from 'typebox'
import { inProject } from '../../src/http/access.ts'
import { defineRoute } from '../../src/http/route.ts'
import { createServer } from '../../src/http/server.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import type { Caller } from '../../src/modules/keys/keys.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const MEBIBYTE = 1024 * 1024

const CALLER: Caller = {
  accountId: 'account',
  keyId: 'key',
  environment: 'dev',
  scopes: new Set(['inference']),
  projectId: null,
  groupIds: [],
  permissions: new Set(['models.use']),
  allowedModels: null,
  requestsPerMinute: null,
  limitNanoUsd: null,
}

const Body = Type.Object({
  model: Type.String(),
  temperature: Type.Optional(Type.Number({ maximum: 1 })),
  stream: Type.Optional(Type.Boolean()),
  granularities: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Object({ team: Type.String() })),
  image: Type.Optional(Type.Unknown()),
})

export interface FormServer {
  readonly url: string
  /** Returns the number of uploaded files on disk. */
  filesLeft(): Promise<number>
  /** Each request waits for this promise while it is handled. */
  hold: Promise<void>
  close(): Promise<void>
}

/** Starts a server with one route that accepts forms and returns what it received. */
export async function startFormServer(): Promise<FormServer> {
  const uploadDirectory = await mkdtemp(join(tmpdir(), 'parkway-forms-test-'))
  const state = { hold: Promise.resolve() }
  const route = defineRoute({
    method: 'POST',
    path: '/form',
    summary: 'Takes a form',
    tag: 'Test',
    access: inProject('models.use'),
    body: Body,
    form: {
      files: {
        image: { countMax: 3, bytesMax: 25 * MEBIBYTE, isRequired: true, description: 'An image.' },
        mask: { countMax: 1, bytesMax: 1024, isRequired: false, description: 'A mask.' },
      },
    },
    responses: { 200: { description: 'What was given.' } },
    handle: async ({ body, files }) => {
      await state.hold
      const seen = files.map(async ({ path, ...file }) => {
        const bytes = await readFile(path)
        return { ...file, isWhole: bytes.length === file.bytes, sha256: sha256(bytes) }
      })
      return { body, files: await Promise.all(seen) }
    },
  })
  const server = await createServer({
    routes: [route],
    consoleSite: null,
    guard: {
      authenticate: () => CALLER,
      authenticateKey: async () => CALLER,
      countSignIn: (_, signIn) => signIn(),
      addressOf: () => '127.0.0.1',
      admitVisitor: () => {},
      confirmationRequired: async () => Promise.reject(new Error('not asked')),
    },
    limits: { countRefused: async () => null, secondsToRest: () => 0 },
    idempotency: {
      claim: () => Promise.reject(new Error('no key is sent')),
      hasEnded: async () => false,
      sweep: async () => 0,
      close: async () => {},
    },
    media: {
      ownIdOf: () => null,
      openOwn: () => Promise.reject(new Error('no file is kept')),
      fetchForeign: () => Promise.reject(new Error('no file is fetched')),
    },
    logger: silentLogger,
    clock: systemClock,
    observer: { started: () => {}, finished: () => {} },
    corsOrigins: [],
    capturedBytesOf: () => null,
    bodyBytesMax: MEBIBYTE,
    runForAccount: (_, work) => work(),
    readOld: (_, __, work) => work(),
    bodiesInWorkBytesMax: 256 * 1024 * 1024,
    uploadDirectory,
    connectionsMax: 1_000,
    refusedMax: 100,
    unauthenticatedBytesMax: 64 * MEBIBYTE,
    isKnownKey: () => false,
    onConnectionRefused: () => {},
    overload: {
      turnMsMax: 0,
      unitsMin: 1,
      observer: { began: () => {}, ended: () => {}, refused: () => {} },
    },
    isFast: true,
    requestMsMax: 60_000,
    keepsBodies: false,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, sharePort: false })
  server.open()
  return {
    url: `http://127.0.0.1:${port}`,
    filesLeft: async () => {
      const entries = await readdir(uploadDirectory, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).length
    },
    get hold() {
      return state.hold
    },
    set hold(promise) {
      state.hold = promise
    },
    close: async () => {
      await server.close({ graceMs: 0 })
      await removeDirectory(uploadDirectory)
    },
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
