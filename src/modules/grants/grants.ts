import type { Clock } from '../../kernel/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type ChangeActor, type RequestOrigin } from '../audit/audit.ts'
import type { Caller, Keys } from '../keys/keys.ts'
import { approveDevice, denyDevice, findWaitingDevice, type WaitingDevice } from './answer-device-code.ts'
import { REFRESH_IDLE_DAYS, type GrantTokens } from './issue-tokens.ts'
import { listGrants, readGrant, type Grant } from './list-grants.ts'
import { invalidGrant } from './oauth-errors.ts'
import { redeemDeviceCode } from './redeem-device-code.ts'
import { lockGrantOf, refreshGrant, type Refresh } from './refresh-grant.ts'
import { requestDeviceCode, type AskingDevice, type DeviceCode } from './request-device-code.ts'

export type { WaitingDevice } from './answer-device-code.ts'
export type { GrantTokens } from './issue-tokens.ts'
export type { Grant } from './list-grants.ts'

export interface Grants {
  /** Whether a person could approve a code: an account without people has keys only. */
  hasPeople(): Promise<boolean>
  /** Starts the sign-in of a tool. The person gets the user code, the tool keeps the device code. */
  requestDeviceCode(device: AskingDevice): Promise<DeviceCode>
  /** Returns the tool that waits for a code. Throws `invalid_user_code`, or `rate_limit_exceeded` after many wrong ones. */
  findDevice(caller: Caller, userCode: string): Promise<WaitingDevice>
  /** Lets the tool work for the person of the session in this project, or in the whole account. */
  approveDevice(
    caller: Caller,
    approval: { userCode: string; projectId: string | null },
  ): Promise<{ grantId: string; device: WaitingDevice }>
  denyDevice(caller: Caller, userCode: string): Promise<WaitingDevice>
  /** Returns the tokens of an approved device code, once. Throws errors of RFC 8628. */
  redeem(poll: { deviceCode: string; clientId: string }): Promise<GrantTokens>
  /** Returns new tokens for a refresh token, once. A used one ends the tool. */
  refresh(refresh: Refresh): Promise<GrantTokens>
  /** Ends the tool of a refresh token, or one access token. Does nothing for an unknown token, as RFC 7009 demands. */
  revoke(revocation: { token: string; clientId: string | null; origin: RequestOrigin }): Promise<void>
  /** Returns the tools of the caller, and of everybody if it manages keys; newest first. */
  list(caller: Caller, filter: { isOwn: boolean }): Promise<Grant[]>
  /** Returns after every process refuses the tokens of the tool. */
  end(caller: Caller, grantId: string): Promise<Grant>
}

export function createGrants({
  database,
  clock,
  keys,
}: {
  database: Database
  clock: Clock
  keys: Keys
}): Grants {
  const options = { database, clock, keys }
  return {
    hasPeople: async () => {
      const [row] = await database.query<{ exists: boolean }>(
        'SELECT EXISTS (SELECT FROM account_members) AS exists',
      )
      return row?.exists === true
    },
    requestDeviceCode: (device) => requestDeviceCode(database, device),
    findDevice: (caller, userCode) => findWaitingDevice(options, caller, userCode),
    approveDevice: (caller, approval) => approveDevice(options, caller, approval),
    denyDevice: (caller, userCode) => denyDevice(options, caller, userCode),
    redeem: (poll) => redeemDeviceCode(options, poll),
    refresh: (refresh) => refreshGrant(options, refresh),
    revoke: async ({ token, clientId, origin }) => {
      if (await keys.revokeAccessToken(token)) return
      const keyId = await database.transaction(async (transaction) => {
        const grant = await lockGrantOf(transaction, token)
        if (grant === null) return null
        if (clientId !== null && clientId !== grant.client_id)
          throw invalidGrant('The token belongs to another client.')
        const { account_id: accountId, key_id: ownKeyId, project_id: projectId } = grant
        const actor = { accountId, keyId: ownKeyId, origin }
        await endGrant(transaction, { actor, grantId: grant.id, projectId, clientId: grant.client_id })
        return ownKeyId
      })
      if (keyId !== null) await keys.announceKeyChange(keyId)
    },
    list: (caller, filter) => listGrants(database, caller, filter),
    end: async (caller, grantId) => {
      const ended = await database.transaction(async (transaction) => {
        const grant = await readGrant(transaction, caller, grantId)
        const { clientId, project } = grant
        await endGrant(transaction, {
          actor: caller,
          grantId: grant.id,
          projectId: project?.id ?? null,
          clientId,
        })
        return grant
      })
      await keys.announceKeyChange(ended.keyId)
      return ended
    },
  }
}

interface EndedGrant {
  readonly actor: ChangeActor
  readonly grantId: string
  readonly projectId: string | null
  readonly clientId: string
}

async function endGrant(
  transaction: Queryable,
  { actor, grantId, projectId, clientId }: EndedGrant,
): Promise<void> {
  const ended = await transaction.query('DELETE FROM grants WHERE id = $1 RETURNING id', [grantId])
  if (ended.length === 0) return
  const resourceId = wireId('grant', grantId)
  const details = { data: { client_id: clientId } }
  await recordChange(transaction, { actor, type: 'grant.deleted', projectId, resourceId, details })
}

/** Deletes codes that have expired, and tools that were not used for too long. */
export async function sweepGrants(queryable: Queryable): Promise<void> {
  // Kept for a while, so that a device is told why.
  await queryable.query(`DELETE FROM device_codes WHERE expires_at < now() - interval '1 hour'`)
  await queryable.query('DELETE FROM device_code_guesses WHERE window_ends_at < now()')
  await queryable.query(
    `DELETE FROM grants WHERE expires_at < now() OR last_used_at < now() - interval '${REFRESH_IDLE_DAYS} days'`,
  )
}
