import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Passkey } from '../../../modules/passkeys/passkeys.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { CreatedAt, objectName, UuidId } from '../../../wires/usual-members.ts'
import { Name } from './api-key-wire.ts'

/** The answer of an authenticator, whose largest part is the statement about its maker. */
export const PASSKEY_BYTES_MAX = 32 * 1024

const base64url = (lengthMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: lengthMax, pattern: '^[A-Za-z0-9_-]+$', description })

const CREDENTIAL_ID_LENGTH_MAX = 1_400
const CLIENT_DATA_LENGTH_MAX = 4_096
const ATTESTATION_LENGTH_MAX = 16_384
const AUTHENTICATOR_DATA_LENGTH_MAX = 4_096
const SIGNATURE_LENGTH_MAX = 2_048
const TRANSPORTS_MAX = 10

const credentialMembers = {
  id: base64url(CREDENTIAL_ID_LENGTH_MAX, 'The name that the authenticator gave it.'),
  rawId: base64url(CREDENTIAL_ID_LENGTH_MAX, 'The same as `id`.'),
  type: Type.Literal('public-key', { description: 'Always the same.' }),
}
const clientDataJSON = base64url(
  CLIENT_DATA_LENGTH_MAX,
  'What the browser signed: challenge, origin and type.',
)

/** Further members that browsers write are not read. */
export const NewCredentialBody = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        attestationObject: base64url(
          ATTESTATION_LENGTH_MAX,
          'The new public key and what the device says of it.',
        ),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 32, pattern: '^[a-z-]+$' }), {
            maxItems: TRANSPORTS_MAX,
            description: 'How the browser reaches the authenticator.',
          }),
        ),
      },
      { description: 'What the authenticator made.' },
    ),
  },
  { description: 'What `navigator.credentials.create()` returned, as JSON.' },
)

export const KnownCredentialBody = Type.Object(
  {
    ...credentialMembers,
    response: Type.Object(
      {
        clientDataJSON,
        authenticatorData: base64url(AUTHENTICATOR_DATA_LENGTH_MAX, 'The host, the flags and the counter.'),
        signature: base64url(SIGNATURE_LENGTH_MAX, 'Made with the private key.'),
        userHandle: Type.Optional(
          orNull(base64url(CREDENTIAL_ID_LENGTH_MAX, 'What the authenticator keeps beside the passkey.')),
        ),
      },
      { description: 'What the authenticator signed.' },
    ),
  },
  { description: 'What `navigator.credentials.get()` returned, as JSON.' },
)

export const PasskeyName = described(Name, 'What the person calls it.')

export const NEW_CREDENTIAL_EXAMPLE = {
  id: 'q1Gf3kzX0m4',
  rawId: 'q1Gf3kzX0m4',
  type: 'public-key',
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
} as const

export const KNOWN_CREDENTIAL_EXAMPLE = {
  id: 'q1Gf3kzX0m4',
  rawId: 'q1Gf3kzX0m4',
  type: 'public-key',
  response: {
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    signature: 'MEUCIQDx',
  },
} as const

const Descriptors = Type.Array(
  Type.Object({
    id: Type.String({ description: 'The name of the passkey.' }),
    type: Type.String({ description: '`public-key`' }),
    transports: Type.Optional(Type.Array(Type.String(), { description: 'How the browser may reach it.' })),
  }),
  { description: 'Passkeys of the person.' },
)
const Extensions = Type.Optional(Type.Object({}, { description: 'What the browser is asked for beside.' }))
const Timeout = Type.Integer({ description: 'In milliseconds. The challenge works as long.' })
const Challenge = Type.String({ description: 'Random. It works once.' })
const Hints = Type.Optional(Type.Array(Type.String(), { description: 'What kind of device to offer first.' }))

export const CreationOptions = Type.Object(
  {
    object: objectName('passkey.creation'),
    public_key: Type.Object(
      {
        challenge: Challenge,
        rp: Type.Object(
          {
            id: Type.String({ description: 'The host.' }),
            name: Type.String({ description: 'The name of the site.' }),
          },
          { description: 'Where the passkey will work.' },
        ),
        user: Type.Object(
          {
            id: Type.String({ description: 'What the authenticator keeps beside the passkey.' }),
            name: Type.String({ description: 'The e-mail address and the account.' }),
            displayName: Type.String({ description: 'The name of the person.' }),
          },
          { description: 'Whom the authenticator shows.' },
        ),
        pubKeyCredParams: Type.Array(
          Type.Object({
            alg: Type.Integer({ description: 'The algorithm, as COSE numbers it.' }),
            type: Type.String({ description: '`public-key`' }),
          }),
          { description: 'The algorithms that count here, the preferred first.' },
        ),
        timeout: Timeout,
        attestation: Type.String({ description: '`none`: who made the device is not asked.' }),
        excludeCredentials: Descriptors,
        authenticatorSelection: Type.Object({}, { description: 'It has to check who uses it.' }),
        extensions: Extensions,
        hints: Hints,
      },
      { description: 'For `navigator.credentials.create()`, in the JSON form of WebAuthn.' },
    ),
  },
  { title: 'PasskeyCreation' },
)

export const RequestOptions = Type.Object(
  {
    object: objectName('passkey.request'),
    public_key: Type.Object(
      {
        challenge: Challenge,
        rpId: Type.String({ description: 'The host.' }),
        timeout: Timeout,
        userVerification: Type.String({ description: '`required`: the device checks who uses it.' }),
        allowCredentials: Type.Optional(Descriptors),
        extensions: Extensions,
        hints: Hints,
      },
      { description: 'For `navigator.credentials.get()`, in the JSON form of WebAuthn.' },
    ),
  },
  { title: 'PasskeyRequest' },
)

export const PasskeyAnswer = Type.Object(
  {
    id: UuidId,
    object: objectName('passkey'),
    name: Type.String({ description: 'What the person calls it.' }),
    host: Type.String({ description: 'The host that it works for.' }),
    is_synced: Type.Boolean({
      description: "Whether the maker of the device keeps a copy for the person's other devices.",
    }),
    created_at: CreatedAt,
    last_used_at: orNull(Type.String({ format: 'date-time' }), 'Null before the first sign-in with it.'),
    doubted_at: orNull(
      Type.String({ format: 'date-time' }),
      'When it was last refused because its counter went back: somebody may have a copy. Null if that never happened.',
    ),
  },
  { title: 'Passkey' },
)

export function passkeyToWire(passkey: Passkey): Static<typeof PasskeyAnswer> {
  const { id, name, relyingPartyId, isSynced, createdAtMs, lastUsedAtMs, doubtedAtMs } = passkey
  return {
    id,
    object: 'passkey',
    name,
    host: relyingPartyId,
    is_synced: isSynced,
    created_at: toTimestamp(createdAtMs),
    last_used_at: lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
    doubted_at: doubtedAtMs === null ? null : toTimestamp(doubtedAtMs),
  }
}
