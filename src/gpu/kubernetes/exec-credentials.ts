import { execFile } from 'node:child_process'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { ExecPlugin } from './cluster-configuration.ts'

/** What a credential plugin printed. */
export interface ExecCredential {
  readonly token: string | null
  readonly certificate: string | null
  readonly key: string | null
}

const RUN_MS_MAX = 60_000
const OUTPUT_BYTES_MAX = 1024 * 1024
const MESSAGE_LENGTH_MAX = 500
/** Credentials are renewed this long before they expire, so that they are valid when the request arrives. */
const RENEW_BEFORE_MS = 10_000

const Printed = Type.Object({
  status: Type.Object({
    token: Type.Optional(Type.String()),
    clientCertificateData: Type.Optional(Type.String()),
    clientKeyData: Type.Optional(Type.String()),
    expirationTimestamp: Type.Optional(Type.String()),
  }),
})

/** Returns a function that runs the plugin once, and again when its credentials expire. Concurrent calls share one run. */
export function createExecCredentials(plugin: ExecPlugin): () => Promise<ExecCredential> {
  let current: Promise<ExecCredential> | null = null
  let expiresAtMs = Infinity

  const renew = async (): Promise<ExecCredential> => {
    const { status } = parsePrinted(plugin, await run(plugin))
    const expiry = Date.parse(status.expirationTimestamp ?? '')
    expiresAtMs = Number.isNaN(expiry) ? Infinity : expiry
    return {
      token: status.token ?? null,
      certificate: status.clientCertificateData ?? null,
      key: status.clientKeyData ?? null,
    }
  }

  return () => {
    if (current === null || Date.now() > expiresAtMs - RENEW_BEFORE_MS) {
      expiresAtMs = Infinity
      const renewed = renew()
      current = renewed
      renewed.catch(() => {
        if (current === renewed) current = null
      })
    }
    return current
  }
}

function run({ command, args, environment }: ExecPlugin): Promise<string> {
  const options = { env: { ...environment }, timeout: RUN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX }
  return new Promise((fulfil, reject) => {
    const child = execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error === null) return fulfil(stdout)
      const reason = stderr.trim().slice(0, MESSAGE_LENGTH_MAX) || `exit ${error.code ?? error.signal}`
      reject(new Error(`the credential plugin ${command} failed: ${reason}`))
    })
    // A plugin that asks for a password ends instead of waiting for an answer.
    child.stdin?.end()
  })
}

/** The output has secrets and is never part of an error. */
function parsePrinted({ command }: ExecPlugin, text: string): Static<typeof Printed> {
  let value: unknown
  try {
    value = parseJson(text)
  } catch {
    value = null
  }
  if (!Value.Check(Printed, value))
    throw new Error(`the credential plugin ${command} printed no ExecCredential`)
  return value
}
