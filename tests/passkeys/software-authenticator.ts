import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** What a test changes of an answer that would be right. */
interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly type?: string
  readonly isVerified?: boolean
  readonly isPresent?: boolean
  readonly counter?: number
  /** Another key than that of the passkey signs. */
  readonly signsWith?: SoftwarePasskey
  readonly userHandle?: string | null
  readonly format?: string
}

export interface SoftwarePasskey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: Buffer
  userHandle: string
  counter: number
}

interface CreationOptions {
  readonly challenge: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string }
}

interface RequestOptions {
  readonly challenge: string
  readonly rpId: string
}

const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

/** Makes a passkey and answers a registration as a browser with an authenticator does, with ECDSA on P-256. */
export function createCredential(options: CreationOptions, origin: string, lies: Lies = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const id = randomBytes(32)
  const passkey: SoftwarePasskey = {
    id: id.toString('base64url'),
    privateKey,
    publicKey: cose,
    userHandle: options.user.id,
    counter: 0,
  }
  const authData = Buffer.concat([
    authenticatorData(lies.rpId ?? options.rp.id, { counter: 0, ...lies }, HAS_CREDENTIAL),
    Buffer.alloc(16),
    Buffer.from([id.length >> 8, id.length & 0xff]),
    id,
    cose,
  ])
  const attestationObject = Buffer.concat([
    // {fmt: …, attStmt: {}, authData: …}
    Buffer.from('a3', 'hex'),
    cborText('fmt'),
    cborText(lies.format ?? 'none'),
    cborText('attStmt'),
    lies.format === 'packed' ? certified() : Buffer.from('a0', 'hex'),
    cborText('authData'),
    Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
    authData,
  ])
  const credential = {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON: clientData('webauthn.create', options.challenge, origin, lies),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    },
  }
  return { passkey, credential }
}

/** Answers a sign-in with a passkey. */
export function useCredential(
  passkey: SoftwarePasskey,
  options: RequestOptions,
  origin: string,
  lies: Lies = {},
) {
  passkey.counter = lies.counter ?? passkey.counter + 1
  const data = authenticatorData(lies.rpId ?? options.rpId, { ...lies, counter: passkey.counter }, 0)
  const clientDataJSON = clientData('webauthn.get', options.challenge, origin, lies)
  const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
  const { privateKey } = lies.signsWith ?? passkey
  const handle = lies.userHandle === undefined ? passkey.userHandle : lies.userHandle
  return {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    response: {
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', Buffer.concat([data, clientDataHash]), privateKey).toString('base64url'),
      userHandle: handle,
    },
  }
}

function authenticatorData(
  rpId: string,
  { counter = 0, isVerified = true, isPresent = true }: Lies,
  flags: number,
) {
  const bytes = Buffer.alloc(37)
  createHash('sha256').update(rpId).digest().copy(bytes)
  bytes[32] = flags | (isPresent ? PRESENT : 0) | (isVerified ? VERIFIED : 0)
  bytes.writeUInt32BE(counter, 33)
  return bytes
}

function clientData(type: string, challenge: string, origin: string, lies: Lies): string {
  const data = {
    type: lies.type ?? type,
    challenge: lies.challenge ?? challenge,
    origin: lies.origin ?? origin,
    crossOrigin: false,
  }
  return Buffer.from(JSON.stringify(data)).toString('base64url')
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
}

/** `{alg: -7, sig: h'00', x5c: [h'00']}` */
function certified(): Buffer {
  return Buffer.concat([
    Buffer.from('a3', 'hex'),
    cborText('alg'),
    Buffer.from('26', 'hex'),
    cborText('sig'),
    Buffer.from('4100', 'hex'),
    cborText('x5c'),
    Buffer.from('814100', 'hex'),
  ])
}
