import type { Clock } from '../../kernel/clock.ts'
import type { OpenPage, OrderedPageRequest, Page, PageRequest } from '../../kernel/page.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { KeyAuthenticator } from './authenticate/authenticate-key.ts'
import type { Caller } from './authenticate/caller.ts'
import { findEndedGrants } from './authenticate/find-ended-grants.ts'
import { enterProject, listEnterableProjects, type EnterableProjects } from './change/enter-project.ts'
import { revokeKey, updateKey, type KeyChanges } from './change/change-key.ts'
import type { FindUnknownModel } from './change/allowed-models.ts'
import { createKey, type KeyRequest } from './change/create-key.ts'
import { issueFirstKey } from './change/issue-first-key.ts'
import type { IssuedKey } from './change/issue-key.ts'
import {
  announceKeyChange,
  KEY_CHANGE_TOPIC,
  parseKeyChange,
  type KeyChange,
  type KeyChangeBus,
} from './change/key-change.ts'
import { requireFutureExpiry } from './change/future-expiry.ts'
import { rotateKey, type KeyRotation } from './change/rotate-key.ts'
import { ensureSessionKey, type SessionKeyOrder } from './change/session-key.ts'
import { isActive, type KeyRecord } from './key-record.ts'
import { keepOwner } from './permissions/keep-owner.ts'
import { isOfAccountItself, requireMayGive, type Gift } from './permissions/require-may-give.ts'
import {
  deleteAccessToken,
  issueAccessToken,
  type AccessToken,
  type AccessTokenOrder,
} from './change/access-tokens.ts'
import { ensureTokenKey, type TokenOwner } from './change/token-key.ts'
import { readAuthority, readOwnerRoles, type OwnerPlace } from './authenticate/read-authority.ts'
import { readCaller, readFormerCaller } from './authenticate/read-caller.ts'
import { listAdminKeys, readAdminKey } from './admin-keys.ts'
import type { OwnedKey } from './owned-key.ts'
import { listProjectKeys, readProjectKey, type OwnerAccess } from './project-keys.ts'
import { listKeys, readKey } from './read-keys.ts'
import { listVisibleKeys, readVisibleKey } from './visible-keys.ts'
import { recordLastUsed } from './authenticate/record-last-used.ts'

export { ENVIRONMENTS, SCOPES } from './authenticate/caller.ts'
export type { Caller, Environment, Scope } from './authenticate/caller.ts'
export { lockSecret } from './authenticate/secret-mark.ts'
export { tagCaller } from './tags/tag-caller.ts'
export { checkTagSettings, type TagSettings } from './tags/tag-rules.ts'
export { parseTagLabel, TAGS_HEADER, tagsOf } from './tags/tags.ts'
export { labelsOf, withLabels } from './authenticate/labels.ts'
export type { ModelPermissions, ProjectModelRates } from './authenticate/project-policy.ts'
export type { FindUnknownModel } from './change/allowed-models.ts'
export type { KeyChanges } from './change/change-key.ts'
export { createKey, type KeyRequest } from './change/create-key.ts'
export type { EnterableProjects } from './change/enter-project.ts'
export { findFormerKey } from './authenticate/find-former-key.ts'
export { findOperatorKey } from './authenticate/find-operator-key.ts'
export { isAboutOwner, type KeyChange, type KeyChangeBus } from './change/key-change.ts'
export { isKeyForm, KEY_FORM } from './key-form.ts'
export { permissionsOfRoles } from './permissions/held-permissions.ts'
export { rolesOfAssignment } from './permissions/owner-roles.ts'
export {
  ACCOUNT_ROLE_PERMISSIONS,
  OPERATOR_ROLE_PERMISSIONS,
  PROJECT_ROLE_PERMISSIONS,
} from './permissions/predefined-roles.ts'
export type { KeyRecord } from './key-record.ts'
export type { OwnedKey } from './owned-key.ts'
export {
  ACCOUNT_PERMISSIONS,
  PERMISSION_MEANINGS,
  PERMISSIONS,
  PERMISSIONS_OF_SCOPES,
  PROJECT_PERMISSIONS,
  scopeOfPermission,
  type Permission,
} from './permissions/permissions.ts'
export { sweepAccessTokens } from './change/access-tokens.ts'
export { refuseAccessToken } from './permissions/refuse-access-token.ts'
export { mayRead, readerOf, readerOfAccount, seesBalance, type Reader } from './reader.ts'

interface ProjectPlace {
  readonly accountId: string
  readonly projectId: string
}

type PersonPlace = Omit<OwnerPlace, 'serviceAccountId'>

export interface Keys {
  /**
   * Returns the caller of this key, synchronously if the key is in memory. Throws `invalid_api_key` if it is not valid.
   * @param connection the connection of the request, to cache the hash for further requests with the same key
   */
  authenticate(token: string, connection?: object): Caller | Promise<Caller>
  /** Returns the current caller of this key, for work that continues after the response. Throws like `authenticate`. */
  callerOf(accountId: string, keyId: string): Promise<Caller>
  /** Also returns the caller of a key that may no longer be used, to charge work that is already done. */
  formerCallerOf(accountId: string, keyId: string): Promise<Caller>
  /** Whether the key is in memory, so that no database read is needed. */
  isKnown(token: string): boolean
  /** Absent members are inherited from the caller's key. Throws if the request exceeds the caller's rights. */
  create(caller: Caller, accountId: string, request: KeyRequest): Promise<IssuedKey>
  /** Does the same in a transaction of the caller, who calls `announceNewKeys` after it. */
  createWithin(
    transaction: Queryable,
    caller: Caller,
    accountId: string,
    request: KeyRequest,
  ): Promise<IssuedKey>
  list(accountId: string, page: PageRequest): Promise<Page<KeyRecord>>
  read(accountId: string, keyId: string): Promise<KeyRecord>
  /** Returns the keys that the caller may see: all keys of the account if it can manage the account, otherwise only its own. */
  listFor(caller: Caller, page: PageRequest): Promise<Page<KeyRecord>>
  readFor(caller: Caller, keyId: string): Promise<KeyRecord>
  /** Returns the keys of a project that are not revoked, newest first, with their owners. */
  listOfProject(place: ProjectPlace, page: PageRequest, access: OwnerAccess): Promise<OpenPage<OwnedKey>>
  readOfProject(place: ProjectPlace, keyId: string): Promise<OwnedKey>
  /** Returns the keys that manage the whole account and are not revoked, with their owners. */
  listAdmin(accountId: string, page: OrderedPageRequest): Promise<OpenPage<OwnedKey>>
  readAdmin(accountId: string, keyId: string): Promise<OwnedKey>
  /** Returns after every process has applied the change. */
  update(caller: Caller, accountId: string, keyId: string, changes: KeyChanges): Promise<KeyRecord>
  /** Returns after every process refuses the key. */
  revoke(caller: Caller, accountId: string, keyId: string): Promise<KeyRecord>
  /** Returns after every process knows the new secret. The former one works as long as the overlap says. */
  rotate(caller: Caller, accountId: string, rotation: KeyRotation): Promise<IssuedKey>
  /** Whether the key is usable now: neither revoked nor expired. */
  isActive(key: KeyRecord): boolean
  /** Whether the secret before the last rotation still works. */
  isFormerActive(former: { readonly endsAtMs: number }): boolean
  /** Throws for a restricted key, which must not change limits that it has itself. */
  requireUnrestricted(caller: Caller): Promise<void>
  /** Throws unless the caller may give these roles and take them away. A restricted key may not. */
  requireMayGive(queryable: Queryable, caller: Caller, gift: Gift): Promise<void>
  /** Makes a change that may take away owners. Only keys of the account itself and operators may leave the account without any. */
  keepOwner<Result>(transaction: Queryable, caller: Caller, change: () => Promise<Result>): Promise<Result>
  /** The roles of a person in the account, and in a project of it. None if a key of theirs would be refused. */
  rolesOf(queryable: Queryable, person: PersonPlace): Promise<readonly string[]>
  /** Returns the id of the hidden key that stands for a person in sessions, and creates it if needed. */
  ensureSessionKey(transaction: Queryable, order: SessionKeyOrder): Promise<string>
  /** Returns the id of the hidden key that stands for a person or a service account in access tokens, and creates it if needed. */
  ensureTokenKey(transaction: Queryable, owner: TokenOwner): Promise<string>
  /** Issues a token that works like a key of its owner until it expires, and does not make keys, give rights or operate the gateway. */
  issueAccessToken(transaction: Queryable, order: AccessTokenOrder): Promise<AccessToken>
  /** Returns after every process refuses the token. False if there is none. */
  revokeAccessToken(token: string): Promise<boolean>
  /**
   * Returns the id of the hidden key with which a session of this key continues in a project, or null for the project of the key itself.
   * Throws `not_found` for a project that it must not enter.
   */
  enterProject(
    transaction: Queryable,
    place: { accountId: string; keyId: string; projectId: string },
  ): Promise<string | null>
  /** Returns the projects that a session of this key may enter, by name, `Default` first. */
  listEnterableProjects(
    key: { accountId: string; keyId: string },
    filter: { search: string; limit: number },
  ): Promise<EnterableProjects>
  /** Issues the key with all scopes for the first account: the given one, or a new one. */
  issueFirstKey(transaction: Queryable, accountId: string, token?: string): Promise<IssuedKey>
  /** Makes every process that refused an unknown key look for it again. A failure is not told: they do it soon anyway. */
  announceNewKeys(change: KeyChange): Promise<void>
  /** Returns after every process has read again what works with this key. */
  announceKeyChange(keyId: string): Promise<void>
  /** Returns those of the signed-in tools that do not exist any more. */
  findEndedGrants(grantIds: readonly string[]): Promise<string[]>
  /** Makes every process read the account again. */
  announceAccountChange(accountId: string): Promise<void>
  /**
   * Makes every process read the keys of these people in the account again. People without a key or session are left out: call it after the
   * commit, so that a key that is made meanwhile is either found or sees the change itself.
   */
  announcePeopleChange(accountId: string, userIds: readonly string[]): Promise<void>
  /** Reports changes of any process. Null means that changes may have been missed. */
  onChange(listener: (change: KeyChange | null) => void): void
  /** Writes the recorded uses now. Otherwise they are written every few seconds. */
  flushLastUsed(): Promise<void>
  close(): Promise<void>
}

export function createKeys({
  database,
  clock,
  messageBus,
  findUnknownModel,
}: {
  database: Database
  clock: Clock
  messageBus: KeyChangeBus
  findUnknownModel: FindUnknownModel
}): Keys {
  const lastUsed = recordLastUsed({ database })
  const authenticator = new KeyAuthenticator({
    database,
    clock,
    messageBus,
    noteUse: (keyId, nowMs) => lastUsed.note(keyId, nowMs),
  })

  const announce = async (change: KeyChange): Promise<void> => {
    authenticator.forget(change)
    await announceKeyChange(messageBus, change)
  }

  const announceNewKeys = (change: KeyChange): Promise<void> => announce(change).catch(() => undefined)

  const createWithin: Keys['createWithin'] = async (transaction, caller, accountId, request) => {
    const nowMs = clock.nowMs()
    requireFutureExpiry(request.expiresAtMs, nowMs)
    return createKey(transaction, { caller, accountId, nowMs, findUnknownModel }, request)
  }

  return {
    authenticate: (token, connection) => authenticator.authenticate(token, connection),
    isKnown: (token) => authenticator.isKnown(token),
    callerOf: (accountId, keyId) => readCaller(database, { accountId, keyId, nowMs: clock.nowMs() }),
    formerCallerOf: (accountId, keyId) => readFormerCaller(database, { accountId, keyId }),
    create: async (caller, accountId, request) => {
      const issued = await database.transaction((transaction) =>
        createWithin(transaction, caller, accountId, request),
      )
      void announceNewKeys({ keyId: issued.record.id })
      return issued
    },
    createWithin,
    list: (accountId, page) => listKeys(database, accountId, page),
    read: (accountId, keyId) => readKey(database, accountId, keyId),
    listFor: (caller, page) => listVisibleKeys(database, caller, page),
    readFor: (caller, keyId) => readVisibleKey(database, caller, keyId),
    listOfProject: (place, page, access) => listProjectKeys(database, place, page, access),
    readOfProject: (place, keyId) => readProjectKey(database, place, keyId),
    listAdmin: (accountId, page) => listAdminKeys(database, accountId, page),
    readAdmin: (accountId, keyId) => readAdminKey(database, accountId, keyId),
    update: async (caller, accountId, keyId, changes) => {
      const nowMs = clock.nowMs()
      requireFutureExpiry(changes.expiresAtMs, nowMs)
      const key = await updateKey(
        { database, findUnknownModel },
        { caller, accountId, keyId, nowMs },
        changes,
      )
      await announce({ keyId: key.id })
      return key
    },
    revoke: async (caller, accountId, keyId) => {
      const key = await revokeKey(
        { database, findUnknownModel },
        { caller, accountId, keyId, nowMs: clock.nowMs() },
      )
      await announce({ keyId: key.id })
      return key
    },
    rotate: async (caller, accountId, rotation) => {
      const issued = await rotateKey(database, { caller, accountId, nowMs: clock.nowMs(), ...rotation })
      // The new secret exists only in this answer. A process that does not hear of it reads the key again within half a minute.
      await announceNewKeys({ keyId: issued.record.id })
      return issued
    },
    isActive: (key) => isActive(key, clock.nowMs()),
    isFormerActive: ({ endsAtMs }) => clock.nowMs() < endsAtMs,
    requireUnrestricted: (caller) =>
      requireMayGive(database, caller, { projectId: null, roles: [] }, clock.nowMs()),
    requireMayGive: (queryable, caller, gift) => requireMayGive(queryable, caller, gift, clock.nowMs()),
    keepOwner: async (transaction, caller, change) => {
      const authority = await readAuthority(transaction, caller, clock.nowMs())
      return isOfAccountItself(authority) ? change() : keepOwner(transaction, caller.accountId, change)
    },
    rolesOf: async (queryable, person) =>
      (await readOwnerRoles(queryable, { ...person, serviceAccountId: null })) ?? [],
    ensureSessionKey: (transaction, order) => ensureSessionKey(transaction, order, clock.nowMs()),
    ensureTokenKey: (transaction, owner) => ensureTokenKey(transaction, owner, clock.nowMs()),
    issueAccessToken: (transaction, order) => issueAccessToken(transaction, order, clock.nowMs()),
    revokeAccessToken: async (token) => {
      const deleted = await deleteAccessToken(database, token)
      if (deleted !== null) await announce({ keyId: deleted.keyId })
      return deleted !== null
    },
    enterProject: (transaction, place) => enterProject(transaction, place, clock.nowMs()),
    listEnterableProjects: (key, filter) => listEnterableProjects(database, key, filter),
    issueFirstKey: (transaction, accountId, token) =>
      issueFirstKey(transaction, { accountId, ...(token !== undefined && { token }), nowMs: clock.nowMs() }),
    announceNewKeys,
    announceKeyChange: (keyId) => announce({ keyId }),
    findEndedGrants: (grantIds) => findEndedGrants(database, grantIds),
    announceAccountChange: (accountId) => announce({ accountId }),
    announcePeopleChange: async (accountId, people) => {
      const rows = await database.query<{ user_id: string }>(
        'SELECT DISTINCT user_id FROM api_keys WHERE account_id = $1 AND user_id = ANY ($2) AND revoked_at IS NULL',
        [accountId, people],
      )
      if (rows.length > 0) await announce({ accountId, userIds: rows.map(({ user_id: userId }) => userId) })
    },
    onChange: (listener) => {
      messageBus.subscribe(KEY_CHANGE_TOPIC, (payload) => listener(parseKeyChange(payload)))
      messageBus.onConnectionLost(() => listener(null))
    },
    flushLastUsed: () => lastUsed.flush(),
    close: () => lastUsed.close(),
  }
}
