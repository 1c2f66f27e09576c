import { X509Certificate } from 'node:crypto'
import { createKnownReadings } from '../secrets/known-readings.ts'
import { createPlainFiles, fingerprintOfFile } from '../secrets/plain-files.ts'

/** Certificate authorities of operators: their text in PEM, or `file:/path`. */
export interface CertificateAuthorities {
  /** Returns what is wrong, or null. A file may be put there later. */
  findProblem(authority: string): string | null
  read(authority: string): CertificateReading
  /** Reads files again that changed or could not be read. Returns whether anything is different. */
  refresh(): boolean
  /** Forgets all but these. */
  keep(authorities: ReadonlySet<string>): void
}

type CertificateReading =
  | { readonly pem: string; readonly problem: null }
  | { readonly pem: null; readonly problem: string }

const FILE = /^file:(\/[^\0]{1,1000})$/
/** The authorities that browsers know are a quarter of that. */
const FILE_BYTES_MAX = 1024 * 1024
const CERTIFICATES_MAX = 1_000
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

export function createCertificateAuthorities(directories: readonly string[]): CertificateAuthorities {
  const files = createPlainFiles({ directories, bytesMax: FILE_BYTES_MAX })
  const readNow = (authority: string): CertificateReading => {
    const path = FILE.exec(authority)?.[1]
    if (path === undefined) return readPem(authority)
    const file = files.read(path)
    return file.problem === null ? readPem(file.text) : { pem: null, problem: file.problem }
  }
  const known = createKnownReadings({
    readNow,
    fingerprintOf: (authority) =>
      authority.startsWith('file:') ? fingerprintOfFile(authority.slice('file:'.length)) : '',
    isSame: (one, other) => one.pem === other.pem && one.problem === other.problem,
  })
  return {
    findProblem: (authority) => {
      const path = FILE.exec(authority)?.[1]
      return path === undefined ? readPem(authority).problem : files.findProblem(path)
    },
    read: (authority) => known.read(authority),
    refresh: () => known.refresh(),
    keep: (authorities) => known.keep(authorities),
  }
}

/** Returns the certificates of a text without what is written between them. */
function readPem(text: string): CertificateReading {
  // It is shown again, and belongs to whoever issues certificates.
  if (text.includes('PRIVATE KEY'))
    return { pem: null, problem: 'it has a private key, which belongs nowhere' }
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) return { pem: null, problem: 'it is no certificate in PEM' }
  if (certificates.length > CERTIFICATES_MAX)
    return { pem: null, problem: `it has more than ${CERTIFICATES_MAX} certificates` }
  if (!certificates.every(isCertificate))
    return { pem: null, problem: 'one of its certificates cannot be read' }
  return { pem: `${certificates.join('\n')}\n`, problem: null }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== ''
  } catch {
    return false
  }
}
