import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import { hasBudget } from './has-budget.ts'
import { recordChange } from '../../audit/audit.ts'
import type { Caller } from '../authenticate/caller.ts'
import { requireKnownModels, type FindUnknownModel } from './allowed-models.ts'
import { issueKey, type IssuedKey } from './issue-key.ts'
import {
  inheritRights,
  isRestricted,
  liftsRestrictions,
  requirePermissions,
  requireRights,
  type KeyRights,
} from '../key-rights.ts'
import { checkTagSettings } from '../tags/tag-rules.ts'
import { authorityIn, readAuthority, readOwnerRoles } from '../authenticate/read-authority.ts'
import { heldPermissions } from '../permissions/held-permissions.ts'
import { refuseAccessToken } from '../permissions/refuse-access-token.ts'
import { placeKey } from './place-key.ts'

/** Absent members are inherited from the calling key. */
export interface KeyRequest extends Partial<KeyRights> {
  readonly name: string
  /** The project of the key, by default that of the calling key. */
  readonly projectId?: string
  /** The service account of that project that the key belongs to, by default the owner of the calling key. */
  readonly serviceAccountId?: string
}

/**
 * Creates a key that has at most the rights of the calling key. Both keys together cannot exceed the limits of the calling key.
 */
export async function createKey(
  transaction: Queryable,
  {
    caller,
    accountId,
    nowMs,
    findUnknownModel,
  }: { caller: Caller; accountId: string; nowMs: number; findUnknownModel: FindUnknownModel },
  { name, projectId, serviceAccountId, ...asked }: KeyRequest,
): Promise<IssuedKey> {
  refuseAccessToken(caller)
  checkTagSettings(asked)
  const ofCaller = await readAuthority(transaction, caller, nowMs)
  const authority =
    caller.accountId === accountId
      ? await authorityIn(transaction, ofCaller, projectId?.toLowerCase() ?? null)
      : ofCaller
  const rights = inheritRights(authority, asked)
  const user = {
    accountId,
    projectId: projectId ?? ownProject(caller, accountId),
    environment: rights.environment,
  }
  requireKnownModels(findUnknownModel, user, { asked: asked.allowedModels })
  requireRights(authority, rights)
  let parentId: string | null = null
  const isShared =
    authority.kind === 'key' &&
    !liftsRestrictions(authority) &&
    (isRestricted(authority.key) ||
      (await hasBudget(transaction, accountId, caller.session?.keyId ?? authority.key.id)))
  if (isShared) {
    if (
      caller.session !== undefined &&
      caller.session.keyId !== authority.key.id &&
      !isRestricted(authority.key)
    )
      throw new AppError('forbidden', 'A key with a budget makes keys only where it works itself.')
    // One level is enough to share a limit, and keeps each request under two limits at most.
    if (authority.key.parentId !== null)
      throw new AppError('forbidden', 'A key that was made by a restricted key cannot make keys.')
    parentId = authority.key.id
  }
  const { scopes } = rights
  const place = await placeKey(transaction, { caller, accountId, projectId, serviceAccountId, scopes })
  requirePermissions(authority, serviceAccountId === undefined ? ['keys.own'] : ['keys.manage'])
  const ownerRoles = await readOwnerRoles(transaction, { accountId, ...place })
  requirePermissions(authority, heldPermissions({ scopes, ownerRoles, isOfSessions: false }))
  const issued = await issueKey(transaction, {
    accountId,
    draft: { name, ...rights, ...place, parentId },
    nowMs,
  })
  await recordChange(transaction, {
    actor: caller,
    accountId,
    type: 'api_key.created',
    projectId: issued.record.projectId,
    resourceId: issued.record.id,
    details: { data: { name, scopes } },
  })
  return issued
}

function ownProject({ accountId, projectId }: Caller, ofAccount: string): string | null {
  return accountId === ofAccount ? projectId : null
}
