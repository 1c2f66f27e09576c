import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'

/** A credential that is more than a key: a JSON object whose `type` says how to sign in. */
export interface SignInDocument {
  readonly type: string
  /** Returns a member that is a text, or undefined. */
  read(name: string): string | undefined
  /** Returns a member that is an object. */
  readObject(name: string): Readonly<Record<string, unknown>> | undefined
}

const DOCUMENT_LENGTH_MAX = 16 * 1024

/** Returns null if the credential is a key. A text that begins as a document and is none has an empty type. */
export function readSignInDocument(credential: string): SignInDocument | null {
  if (!credential.startsWith('{')) return null
  const value = credential.length <= DOCUMENT_LENGTH_MAX ? parse(credential) : undefined
  const members = isRecord(value) ? value : {}
  const readObject = (name: string) => {
    const member = members[name]
    return isRecord(member) ? member : undefined
  }
  const read = (name: string) => readText(members, name)
  return { type: read('type') ?? '', read, readObject }
}

/** Writes a document in one line, so that it can be kept where keys are kept. Null if the text is not an object in JSON. */
export function writeSignInDocument(text: string): string | null {
  const value = text.length <= DOCUMENT_LENGTH_MAX ? parse(text) : undefined
  return isRecord(value) ? JSON.stringify(value) : null
}

/** Returns the texts of a document, all of which may be secrets or names of accounts. */
export function listDocumentTexts(credential: string): string[] {
  const value: unknown = credential.startsWith('{') ? parse(credential) : undefined
  if (!isRecord(value)) return []
  const { type: _type, ...members } = value
  return Object.values(members).filter((member) => typeof member === 'string')
}

/** Returns the first of these members that is missing. */
export function findMissing(document: SignInDocument, names: readonly string[]): string | null {
  const missing = names.find((name) => (document.read(name) ?? '') === '')
  return missing === undefined ? null : `its sign-in document lacks ${missing}`
}

export function readText(members: unknown, name: string): string | undefined {
  const member = isRecord(members) ? members[name] : undefined
  return typeof member === 'string' ? member : undefined
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
