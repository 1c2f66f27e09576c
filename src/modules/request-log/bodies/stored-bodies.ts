import { AppError } from '../../../kernel/app-error.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import type { ChangeActor } from '../../audit/audit.ts'
import { assembleStream } from './assemble-stream.ts'
import { BodyPolicies, type AccountPolicies, type BodyPolicy, type PolicyScope } from './body-policies.ts'
import { BodyWriter, placeOf, type BodyWriterOptions, type CapturedBodies } from './body-writer.ts'
import { openBody } from './prepare-body.ts'

/** Bodies of requests and answers, for keys and accounts that want them stored. */
export interface StoredBodies {
  /** How many bytes of each body to capture for a key. Null if its bodies are not stored. */
  capturedBytesOf(accountId: string, keyId: string): number | null
  note(bodies: CapturedBodies): void
  /** Throws `not_found` with the reason if there is no body. The request itself must exist. */
  read(accountId: string, requestUuid: string, keyId: string): Promise<RequestBodies>
  /** Whether there is a body. */
  has(accountId: string, requestUuid: string): Promise<boolean>
  listPolicies(accountId: string): AccountPolicies
  /** Sets the policy of an account or of a key. Null removes that of a key. Throws `conflict` under zero data retention. */
  setPolicy(actor: ChangeActor, scope: PolicyScope, policy: BodyPolicy | null): Promise<void>
  /** Returns when every process has read the policies of the account again. */
  announcePolicies(accountId: string): Promise<void>
  readStoredBytes(accountId: string): Promise<number>
  /** Deletes expired bodies. Also runs periodically. */
  sweep(): Promise<void>
  close(): Promise<void>
}

export interface RequestBodies {
  readonly request: StoredBody
  readonly answer: StoredBody & { readonly assembledText: string | null }
  readonly expiresAtMs: number
}

export interface StoredBody {
  readonly text: string
  /** Of what was sent. */
  readonly bytes: number
  readonly isCut: boolean
}

export interface StoredBodiesOptions extends Omit<BodyWriterOptions, 'policies'> {
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm'>
  /** `off`: nothing is stored, whatever the policies are. */
  readonly who: 'off' | 'operator' | 'accounts'
}

interface BodyRow {
  readonly request: Buffer
  readonly answer: Buffer
  readonly request_bytes: bigint
  readonly answer_bytes: bigint
  readonly is_request_cut: boolean
  readonly is_answer_cut: boolean
  readonly expires_at: Date
}

/** Media is left out before a body is cut, so more is captured than is stored. */
const CAPTURED_PER_STORED = 8

export async function openStoredBodies(options: StoredBodiesOptions): Promise<StoredBodies> {
  const { database, sealer, bodyBytesMax, who } = options
  const policies = await BodyPolicies.open(options)
  const writer = new BodyWriter({ ...options, policies })
  const bytesCaptured = bodyBytesMax * CAPTURED_PER_STORED
  return {
    capturedBytesOf: (accountId, keyId) =>
      who === 'off' || policies.find(accountId, keyId) === null ? null : bytesCaptured,
    note: (bodies) => writer.note(bodies),
    read: async (accountId, requestUuid, keyId) => {
      await writer.flush()
      const [row] = await database.query<BodyRow>(READ, [accountId, requestUuid])
      if (row === undefined) throw notStored(policies.find(accountId, keyId))
      const open = (part: 'request' | 'answer') =>
        openBody(row[part], { sealer, place: placeOf(accountId, requestUuid, part) })
      const [request, answer] = await Promise.all([open('request'), open('answer')])
      if (request === null || answer === null)
        throw new AppError(
          'not_found',
          'The body was encrypted with another key of the gateway and cannot be read.',
        )
      return {
        request: { text: request, bytes: Number(row.request_bytes), isCut: row.is_request_cut },
        answer: {
          text: answer,
          bytes: Number(row.answer_bytes),
          isCut: row.is_answer_cut,
          assembledText: assembleStream(answer),
        },
        expiresAtMs: row.expires_at.getTime(),
      }
    },
    has: async (accountId, requestUuid) => {
      await writer.flush()
      return (await database.query(HAS, [accountId, requestUuid])).length > 0
    },
    listPolicies: (accountId) => policies.list(accountId),
    setPolicy: (actor, scope, policy) => policies.set(actor, scope, policy),
    announcePolicies: (accountId) => policies.announce(accountId),
    readStoredBytes: async (accountId) => {
      const [row] = await database.query<{ bytes: bigint }>(
        `SELECT stored_bytes_of($1, 'request_body') AS bytes`,
        [accountId],
      )
      return Number(row?.bytes ?? 0)
    },
    sweep: () => writer.sweep(),
    close: async () => {
      await writer.close()
      policies.close()
    },
  }
}

function notStored(policy: BodyPolicy | null): AppError {
  const reason =
    policy === null
      ? 'Bodies of this key are not stored.'
      : 'It was sent before bodies of this key were stored, its retention has passed, or there was no room for it.'
  return new AppError('not_found', `The body of this request is not stored. ${reason}`)
}

// Bodies of a revoked key are not readable any more, also in the moment before they are deleted.
const LIVING = `
  account_id = $1 AND id = $2 AND expires_at > now()
  AND NOT EXISTS (SELECT FROM api_keys WHERE api_keys.id = key_id AND revoked_at IS NOT NULL)`

const READ = `
  SELECT request, answer, request_bytes, answer_bytes, is_request_cut, is_answer_cut, expires_at
  FROM request_bodies WHERE ${LIVING}`

const HAS = `SELECT 1 AS one FROM request_bodies WHERE ${LIVING}`
