import { AppError, notFound } from '../../../kernel/app-error.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import { errorCodeOf, UNIQUE_VIOLATION } from '../../../storage/storage-error.ts'
import { enterFromDirectory, renameFromDirectory, switchFromDirectory } from '../../people/people.ts'
import { actorOf } from '../actor-of.ts'
import { filterToSql } from '../filter/filter-to-sql.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { PatchOperation } from '../patch/patch-operation.ts'
import { patchUser } from '../patch/patch-user.ts'
import { changedMeanwhile, notUnique } from '../scim-error.ts'
import type { ScimOptions } from '../scim-options.ts'
import type { ScimPage, ScimPageRequest } from '../scim-page.ts'
import type { Directory } from '../tokens/scim-tokens.ts'
import { addressOf, shownNameOf, type UserAttributes } from './user-attributes.ts'
import {
  SEARCHED_USER,
  SEARCHED_WITHIN_USER,
  SELECT_USER,
  userFromRow,
  type ScimUser,
  type UserRow,
} from './user-record.ts'

/** Names a person for a change. */
interface UserPlace {
  readonly directory: Directory
  readonly id: string
  /** What If-Match asks for. Null: any. */
  readonly version: number | null
}

/** All functions throw `not_found` for a person whom the directory does not manage, and for one of another account. */
export interface ScimUsers {
  /** Makes a member of the account, or takes over one with this address. */
  create(directory: Directory, attributes: UserAttributes): Promise<ScimUser>
  read(accountId: string, id: string): Promise<ScimUser>
  list(accountId: string, page: ScimPageRequest): Promise<ScimPage<ScimUser>>
  /** Returns after every process has applied the change: whoever is inactive is out. */
  replace(place: UserPlace, attributes: UserAttributes): Promise<ScimUser>
  patch(place: UserPlace, operations: readonly PatchOperation[]): Promise<ScimUser>
  /** Deactivates the person, who stays a member for the history, and forgets them for the directory. */
  delete(place: UserPlace): Promise<void>
}

/** What a new person is in the account. Groups give more. */
const ROLE_OF_NEW = 'reader'

export function createScimUsers({ database, clock, keys }: ScimOptions): ScimUsers {
  const change = async (
    { directory, id, version }: UserPlace,
    changed: (before: ScimUser) => UserAttributes,
  ): Promise<ScimUser> => {
    const { accountId } = directory
    const { user, announced } = await database.transaction(async (transaction) => {
      const before = await lockUser(transaction, accountId, id)
      if (version !== null && version !== before.version) throw changedMeanwhile()
      const attributes = changed(before)
      if (isSame(before, attributes)) return { user: before, announced: [] }
      const nowMs = clock.nowMs()
      const actor = actorOf(directory)
      const { userId } = before
      const address = addressOf(attributes)
      if (address !== null && address.toLowerCase() !== addressOf(before)?.toLowerCase())
        await renameFromDirectory(transaction, { accountId, userId, email: address, actor, nowMs })
      await updateUser(transaction, { accountId, id, attributes, nowMs })
      await nameMember(transaction, { accountId, userId, name: shownNameOf(attributes) })
      const isSwitched = await switchFromDirectory(transaction, {
        accountId,
        userId,
        isSuspended: !attributes.active,
        actor,
        nowMs,
      })
      return {
        user: await readUserRow(transaction, accountId, id),
        announced: isSwitched ? [userId] : [],
      }
    })
    if (announced.length > 0) await keys.announcePeopleChange(accountId, announced)
    return user
  }

  return {
    create: async (directory, attributes) => {
      const { accountId } = directory
      const { id, userId, isAnnounced } = await database.transaction(async (transaction) => {
        const nowMs = clock.nowMs()
        const actor = actorOf(directory)
        const newId = createId(nowMs)
        // A directory may tell the address later. Nobody gets mail at this one, and it is nobody else's.
        const address = addressOf(attributes) ?? `${newId}@scim.invalid`
        const name = shownNameOf(attributes)
        const entered = await enterFromDirectory(transaction, {
          accountId,
          email: address,
          name,
          role: ROLE_OF_NEW,
          actor,
          nowMs,
          isSilent: true,
        })
        await insertUser(transaction, { accountId, id: newId, userId: entered.userId, attributes, nowMs })
        if (!entered.isNew) await nameMember(transaction, { accountId, userId: entered.userId, name })
        const isSwitched = await switchFromDirectory(transaction, {
          accountId,
          userId: entered.userId,
          isSuspended: !attributes.active,
          actor,
          nowMs,
        })
        return { id: newId, userId: entered.userId, isAnnounced: isSwitched && !entered.isNew }
      })
      if (isAnnounced) await keys.announcePeopleChange(accountId, [userId])
      return readUserRow(database, accountId, id)
    },
    read: (accountId, id) => readUserRow(database, accountId, id),
    list: async (accountId, { startIndex, count, filter }) => {
      const values: unknown[] = [accountId]
      const condition =
        filter === null
          ? 'true'
          : filterToSql(parseFilter(filter), SEARCHED_USER, values, SEARCHED_WITHIN_USER)
      const found = `WHERE s.account_id = $1 AND ${condition}`
      const rows =
        count === 0
          ? []
          : await database.query<UserRow>(
              `${SELECT_USER} ${found} ORDER BY s.id LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
              [...values, count, startIndex - 1],
            )
      const isWhole = startIndex === 1 && rows.length < count
      const [counted] = isWhole
        ? [{ total: BigInt(rows.length) }]
        : await database.query<{ total: bigint }>(
            `SELECT count(*) AS total FROM scim_users s
             JOIN account_members m ON m.account_id = s.account_id AND m.user_id = s.user_id ${found}`,
            values,
          )
      return { items: rows.map(userFromRow), total: Number(counted?.total ?? 0), startIndex }
    },
    replace: (place, attributes) => change(place, () => attributes),
    patch: (place, operations) => change(place, (before) => patchUser(before, operations)),
    delete: async ({ directory, id, version }) => {
      const { accountId } = directory
      const userId = await database.transaction(async (transaction) => {
        const before = await lockUser(transaction, accountId, id)
        if (version !== null && version !== before.version) throw changedMeanwhile()
        await switchFromDirectory(transaction, {
          accountId,
          userId: before.userId,
          isSuspended: true,
          actor: actorOf(directory),
          nowMs: clock.nowMs(),
        })
        await transaction.query(
          `DELETE FROM group_members WHERE account_id = $1 AND user_id = $2 AND source = 'scim'`,
          [accountId, before.userId],
        )
        await transaction.query('DELETE FROM scim_users WHERE id = $1 AND account_id = $2', [id, accountId])
        return before.userId
      })
      await keys.announcePeopleChange(accountId, [userId])
    },
  }
}

async function readUserRow(queryable: Queryable, accountId: string, id: string): Promise<ScimUser> {
  const [row] = isUuid(id)
    ? await queryable.query<UserRow>(`${SELECT_USER} WHERE s.id = $1 AND s.account_id = $2`, [id, accountId])
    : []
  if (row === undefined) throw notFound('user')
  return userFromRow(row)
}

/** Nobody else changes the person before the end of the transaction. */
async function lockUser(transaction: Queryable, accountId: string, id: string): Promise<ScimUser> {
  const [row] = isUuid(id)
    ? await transaction.query<UserRow>(`${SELECT_USER} WHERE s.id = $1 AND s.account_id = $2 FOR UPDATE`, [
        id,
        accountId,
      ])
    : []
  if (row === undefined) throw notFound('user')
  return userFromRow(row)
}

interface WrittenUser {
  readonly accountId: string
  readonly id: string
  readonly attributes: UserAttributes
  readonly nowMs: number
}

function columnsOf({ userName, externalId, displayName, name, emails }: UserAttributes): unknown[] {
  const addresses = emails.map(({ value }) => value.toLowerCase())
  return [
    userName,
    externalId,
    displayName,
    addresses,
    JSON.stringify({ emails, ...(name !== null && { name }) }),
  ]
}

async function insertUser(
  transaction: Queryable,
  { accountId, id, userId, attributes, nowMs }: WrittenUser & { userId: string },
): Promise<void> {
  const rows = await transaction.query(
    `INSERT INTO scim_users (id, account_id, user_id, created_at, updated_at, user_name, external_id, display_name, emails, attributes)
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING id`,
    [id, accountId, userId, new Date(nowMs), ...columnsOf(attributes)],
  )
  if (rows.length === 0) throw notUnique('Another person of the directory has this userName or this address.')
}

async function updateUser(
  transaction: Queryable,
  { accountId, id, attributes, nowMs }: WrittenUser,
): Promise<void> {
  const others = await transaction.query(
    'SELECT FROM scim_users WHERE account_id = $1 AND lower(user_name) = lower($2) AND id <> $3',
    [accountId, attributes.userName, id],
  )
  if (others.length > 0) throw notUnique('Another person of the directory has this userName.')
  const written = transaction.query(
    `UPDATE scim_users SET updated_at = $3, version = version + 1, user_name = $4, external_id = $5, display_name = $6,
       emails = $7, attributes = $8 WHERE id = $1 AND account_id = $2`,
    [id, accountId, new Date(nowMs), ...columnsOf(attributes)],
  )
  await written.catch((error: unknown) => {
    // Another request has taken the name in this moment.
    throw errorCodeOf(error) === UNIQUE_VIOLATION ? notUnique('Another person has this userName.') : error
  })
}

async function nameMember(
  transaction: Queryable,
  { accountId, userId, name }: { accountId: string; userId: string; name: string | null },
): Promise<void> {
  if (name === null) return
  await transaction.query(
    `UPDATE account_members SET name = $3 WHERE account_id = $1 AND user_id = $2 AND name IS DISTINCT FROM $3`,
    [accountId, userId, name],
  )
}

function isSame(before: ScimUser, after: UserAttributes): boolean {
  const shape = ({ userName, externalId, displayName, name, emails, active }: UserAttributes): string =>
    JSON.stringify([
      userName,
      externalId,
      displayName,
      [name?.formatted, name?.familyName, name?.givenName],
      emails.map(({ value, type, display, primary }) => [value, type, display, primary]),
      active,
    ])
  return shape(before) === shape(after)
}

export function requireVersion(text: string | undefined): number | null {
  if (text === undefined || text === '*') return null
  const version = /^(?:W\/)?"(\d{1,9})"$/.exec(text)?.[1]
  if (version === undefined)
    throw new AppError('precondition_failed', 'If-Match must be the version of the resource.')
  return Number(version)
}
