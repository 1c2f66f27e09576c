import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import { createDeviceCode, hashSecret } from './grant-secrets.ts'
import { createUserCode } from './user-code.ts'

/** A tool that asks to be signed in, and where it is. */
export interface AskingDevice {
  readonly clientId: string
  readonly ipAddress: string
  /** The address, or the network of an IPv6 address. */
  readonly network: string
  readonly userAgent: string
}

export interface DeviceCode {
  readonly deviceCode: string
  /** For the person. */
  readonly userCode: string
  readonly lifeSeconds: number
  readonly intervalSeconds: number
}

const LIFE_SECONDS = 600
const INTERVAL_SECONDS = 5
/** Enough for an office behind one address. */
const PENDING_OF_NETWORK_MAX = 30
const PENDING_MAX = 10_000

const CLIENT_ID_PATTERN = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/

/** Throws unless a client may be called so: it is shown to people. */
function requireClientId(clientId: string): void {
  if (CLIENT_ID_PATTERN.test(clientId)) return
  throw new AppError('invalid_request', 'client_id must be 1 to 200 printable characters of ASCII.', {
    param: 'client_id',
  })
}

/** Anybody may ask, so what is kept is bounded: by network, and in all. */
export async function requestDeviceCode(
  queryable: Queryable,
  { clientId, ipAddress, network, userAgent }: AskingDevice,
): Promise<DeviceCode> {
  requireClientId(clientId)
  const [count] = await queryable.query<{ of_network: bigint; of_all: bigint }>(
    `SELECT (SELECT count(*) FROM device_codes WHERE network = $1 AND expires_at > now()) AS of_network,
       (SELECT count(*) FROM device_codes WHERE expires_at > now()) AS of_all`,
    [network],
  )
  if (Number(count?.of_network ?? 0) >= PENDING_OF_NETWORK_MAX) throw tooMany('from this address')
  if (Number(count?.of_all ?? 0) >= PENDING_MAX) throw tooMany('here')
  const deviceCode = createDeviceCode()
  const userCode = createUserCode()
  await queryable.query(
    `INSERT INTO device_codes (device_code_hash, user_code_hash, client_id, ip_address, network, user_agent, interval_seconds, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))`,
    [
      hashSecret(deviceCode),
      hashSecret(userCode),
      clientId,
      ipAddress,
      network,
      userAgent,
      INTERVAL_SECONDS,
      LIFE_SECONDS,
    ],
  )
  return { deviceCode, userCode, lifeSeconds: LIFE_SECONDS, intervalSeconds: INTERVAL_SECONDS }
}

function tooMany(where: string): AppError {
  const message = `Too many tools wait to be signed in ${where}. Try again in a few minutes.`
  return new AppError('rate_limit_exceeded', message, { retryAfterSeconds: 60 })
}
