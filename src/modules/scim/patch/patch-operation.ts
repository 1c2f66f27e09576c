import { isRecord } from '../../../kernel/is-record.ts'
import { attributesOf, type Attributes } from '../read-member.ts'
import { parseFilter, type ScimFilter } from '../filter/parse-filter.ts'
import { scimError } from '../scim-error.ts'

export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove'
  /** Null: the value names the attributes. */
  readonly path: PatchPath | null
  readonly value: unknown
}

/** Which attribute an operation is about, in lower case: `emails[type eq "work"].value`. */
export interface PatchPath {
  readonly attribute: string
  readonly filter: ScimFilter | null
  readonly member: string | null
  /** The path is of an extension, which is ignored. */
  readonly isOfExtension: boolean
}

const OPERATIONS_MAX = 1_000
const PATH_LENGTH_MAX = 2_000
const OPS = ['add', 'replace', 'remove'] as const
const PATH =
  /^(?<urn>urn:[^[\]]*:)?(?<attribute>[a-z$][\w$-]*)(?:\[(?<filter>.*)\])?(?:\.(?<member>[a-z$][\w$-]*))?$/is
const CORE_URN = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):$/i
const READ_ONLY = new Set(['id', 'meta', 'schemas', 'groups'])

/** Reads the body of a PATCH. Entra writes `op` with a capital letter. */
export function readPatch(body: unknown): PatchOperation[] {
  const operations = attributesOf(body).get('operations')
  if (!Array.isArray(operations)) throw scimError('invalidSyntax', 'Operations is missing.')
  if (operations.length > OPERATIONS_MAX)
    throw scimError('tooMany', `A request has at most ${OPERATIONS_MAX} operations.`)
  return operations.map((one) => readOperation(attributesOf(one)))
}

function readOperation(attributes: Attributes): PatchOperation {
  const given = attributes.get('op')
  const op = OPS.find((known) => typeof given === 'string' && known === given.toLowerCase())
  if (op === undefined) throw scimError('invalidSyntax', 'op must be add, replace or remove.')
  const path = readPath(attributes.get('path'))
  const value = attributes.get('value')
  if (path === null && op === 'remove') throw scimError('noTarget', 'remove needs a path.')
  if (path === null && !isRecord(value))
    throw scimError('invalidValue', 'Without a path, value must be an object.')
  if (path !== null && READ_ONLY.has(path.attribute) && !path.isOfExtension)
    throw scimError('mutability', `${path.attribute} cannot be changed.`)
  if (path !== null && op !== 'remove' && value === undefined)
    throw scimError('invalidValue', `${op} needs a value.`)
  return { op, path, value }
}

export function readPath(given: unknown): PatchPath | null {
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string' || given.length > PATH_LENGTH_MAX) throw notPath()
  const { urn, attribute, filter, member } = PATH.exec(given.trim())?.groups ?? {}
  if (attribute === undefined) throw notPath()
  return {
    attribute: attribute.toLowerCase(),
    filter: filter === undefined ? null : parseFilter(filter),
    member: member?.toLowerCase() ?? null,
    isOfExtension: urn !== undefined && !CORE_URN.test(urn),
  }
}

function notPath(): Error {
  return scimError('invalidPath', 'path cannot be read; an example is emails[type eq "work"].value')
}
