import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import type { Database } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { CandidateSelector } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Conversation } from './conversation.ts'
import { readConversation } from './read-conversations.ts'

export interface ConversationOrder {
  readonly name: string | null
  readonly system: string | null
  readonly lanes: readonly {
    readonly model: string
    /** Null for the name of the model. */
    readonly name: string | null
    readonly params: Readonly<Record<string, unknown>>
  }[]
}

export interface ConversationChanges {
  readonly name?: string | null
  readonly system?: string | null
}

interface ChangeOptions {
  readonly database: Database
  readonly selector: Pick<CandidateSelector, 'resolveModel'>
  readonly clock: Clock
}

const CONVERSATIONS_MAX = 10_000

export async function createConversation(
  { database, selector, clock }: ChangeOptions,
  caller: Caller,
  { name, system, lanes }: ConversationOrder,
): Promise<Conversation> {
  for (const [index, { model }] of lanes.entries()) requireModel(selector, caller, model, index)
  const nowMs = clock.nowMs()
  const id = createId(nowMs)
  const { accountId, projectId } = caller
  const rows = lanes.map((lane, position) => ({
    id: createId(nowMs),
    position,
    model: lane.model,
    name: lane.name ?? lane.model,
    params: lane.params,
  }))
  return database.transaction(async (transaction) => {
    const [count] = await transaction.query<{ total: bigint }>(
      'SELECT count(*) AS total FROM compare_conversations WHERE account_id = $1',
      [accountId],
    )
    if (Number(count?.total ?? 0) >= CONVERSATIONS_MAX) throw full(CONVERSATIONS_MAX)
    await transaction.query(
      `INSERT INTO compare_conversations (id, account_id, project_id, name, system, created_at, updated_at)
       VALUES ($1, $2, $6, $3, $4, $5, $5)`,
      [id, accountId, name, system, new Date(nowMs), projectId],
    )
    await transaction.query(
      `INSERT INTO compare_conversation_lanes (id, conversation_id, position, model, name, params)
       SELECT id, $1, position, model, name, params
       FROM json_to_recordset($2::json) AS lane (id uuid, position smallint, model text, name text, params json)`,
      [id, JSON.stringify(rows)],
    )
    return readConversation(transaction, caller, id)
  })
}

/** Refuses models that cannot be called, and names the field in the error. */
function requireModel(
  selector: ChangeOptions['selector'],
  caller: Caller,
  model: string,
  index: number,
): void {
  try {
    selector.resolveModel(caller, model)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, error.message, { param: `lanes.${index}.model` })
  }
}

function full(most: number): AppError {
  return new AppError('conflict', `An account may have ${most} conversations. Delete some of them first.`)
}

export async function updateConversation(
  { database, clock }: Pick<ChangeOptions, 'database' | 'clock'>,
  place: Place,
  conversationId: string,
  changes: ConversationChanges,
): Promise<Conversation> {
  const before = await readConversation(database, place, conversationId)
  const { name = before.name, system = before.system } = changes
  await database.query(
    `UPDATE compare_conversations SET name = $3, system = $4, updated_at = $5 WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [conversationId, idsOf(place), name, system, new Date(clock.nowMs())],
  )
  return readConversation(database, place, conversationId)
}

export async function deleteConversation(
  { database }: Pick<ChangeOptions, 'database'>,
  place: Place,
  conversationId: string,
): Promise<void> {
  if (!isUuid(conversationId)) throw notFound('conversation')
  // Refuse while a turn is being answered: it would be charged, and its replies could not be stored.
  const [row] = await database.query<{ is_deleted: boolean }>(
    `WITH deleted AS (
       DELETE FROM compare_conversations
       WHERE id = $1 AND ${isWithin(place, '$2')} AND (busy_until IS NULL OR busy_until < now()) RETURNING id
     )
     SELECT id IN (SELECT id FROM deleted) AS is_deleted FROM compare_conversations
     WHERE id = $1 AND ${isWithin(place, '$2')}`,
    [conversationId, idsOf(place)],
  )
  if (row === undefined) throw notFound('conversation')
  if (!row.is_deleted) throw busy()
}

export function busy(): AppError {
  return new AppError('conflict', 'A turn of this conversation is still being answered.', {
    retryAfterSeconds: 1,
  })
}
