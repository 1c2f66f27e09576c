import { isRecord } from '../../../kernel/is-record.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import {
  EXTERNAL_ID_LENGTH_MAX,
  NAME_LENGTH_MAX,
  noGroups,
  readMemberIds,
} from '../groups/group-attributes.ts'
import type { ScimFilter } from '../filter/parse-filter.ts'
import { readText } from '../read-member.ts'
import { scimError } from '../scim-error.ts'
import type { PatchOperation, PatchPath } from './patch-operation.ts'

/** What a PATCH does to a group. Members are not read for it: one more or less costs the same in a group of any size. */
export interface GroupPatch {
  displayName?: string
  externalId?: string | null
  /** In their order. */
  readonly steps: MemberStep[]
}

export interface MemberStep {
  /** `only`: these are the members from now on. */
  readonly kind: 'add' | 'remove' | 'only'
  readonly ids: readonly string[]
}

export function readGroupPatch(operations: readonly PatchOperation[]): GroupPatch {
  const patch: GroupPatch = { steps: [] }
  for (const { op, path, value } of operations) {
    if (path !== null) apply(patch, op, path, value)
    else
      for (const [name, member] of Object.entries(isRecord(value) ? value : {}))
        apply(
          patch,
          op,
          { attribute: name.toLowerCase(), filter: null, member: null, isOfExtension: false },
          member,
        )
  }
  return patch
}

function apply(patch: GroupPatch, op: PatchOperation['op'], path: PatchPath, value: unknown): void {
  const { attribute, isOfExtension } = path
  if (isOfExtension) return
  if (attribute === 'members') {
    if (path.member === null || path.member === 'value') patch.steps.push(readStep(op, path, value))
    else checkDescription(path.member, value)
  }
  if (attribute === 'displayname') {
    const name = readText(new Map([[attribute, value]]), 'displayName', NAME_LENGTH_MAX)
    if (op === 'remove' || name === null) throw scimError('invalidValue', 'displayName cannot be removed.')
    patch.displayName = name
  }
  if (attribute === 'externalid')
    patch.externalId =
      op === 'remove' ? null : readText(new Map([[attribute, value]]), 'externalId', EXTERNAL_ID_LENGTH_MAX)
}

function readStep(op: PatchOperation['op'], { filter }: PatchPath, value: unknown): MemberStep {
  if (filter !== null) {
    if (op !== 'remove') throw scimError('noTarget', 'Members are added by their ids, not by a filter.')
    return { kind: 'remove', ids: idsIn(filter) }
  }
  if (op === 'add') return { kind: 'add', ids: readMemberIds(value) }
  if (op === 'replace') return { kind: 'only', ids: readMemberIds(value) }
  // Without a value, all of them are meant.
  const isAll = value === undefined || value === null
  return isAll ? { kind: 'only', ids: [] } : { kind: 'remove', ids: readMemberIds(value) }
}

/** What a member is called comes from the person, so a directory that writes or removes it changes nothing. */
function checkDescription(member: string, value: unknown): void {
  if (!DESCRIPTIONS.has(member)) throw scimError('invalidPath', `A member has no ${member}.`)
  if (member === 'type' && typeof value === 'string' && value.toLowerCase() === 'group') throw noGroups()
}

const DESCRIPTIONS: ReadonlySet<string> = new Set(['display', 'type', '$ref'])

/** Reads `value eq "…"`, and several of them. */
function idsIn(filter: ScimFilter): string[] {
  if (filter.op === 'or') return filter.filters.flatMap(idsIn)
  if (filter.op === 'eq' && filter.attribute === 'value' && typeof filter.value === 'string')
    return isUuid(filter.value) ? [filter.value.toLowerCase()] : []
  throw scimError('invalidFilter', 'Members are named as members[value eq "…"].')
}
