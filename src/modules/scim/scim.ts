import { createScimFailures, type ScimFailures } from './failures/scim-failures.ts'
import type { ScimOptions } from './scim-options.ts'
import { createScimTokens, type ScimTokens } from './tokens/scim-tokens.ts'
import { createScimGroups, type ScimGroups } from './groups/scim-groups.ts'
import { createScimUsers, type ScimUsers } from './users/scim-users.ts'

export { readGroupResource } from './groups/group-attributes.ts'
export type { ScimGroup } from './groups/group-record.ts'
export type { ScimState } from './failures/scim-failures.ts'
export { readGroupPatch } from './patch/patch-group.ts'
export { readPatch } from './patch/patch-operation.ts'
export { PAGE_COUNT_MAX, type ScimPage, type ScimPageRequest } from './scim-page.ts'
export type { ScimToken } from './tokens/scim-tokens.ts'
export { readUser } from './users/user-attributes.ts'
export type { ScimUser } from './users/user-record.ts'
export { requireVersion } from './users/scim-users.ts'

/** What a company's directory writes of its account: people and groups, by SCIM 2.0. */
export interface Scim {
  readonly tokens: ScimTokens
  readonly users: ScimUsers
  readonly groups: ScimGroups
  readonly failures: ScimFailures
}

export function createScim(options: ScimOptions): Scim {
  return {
    tokens: createScimTokens(options),
    users: createScimUsers(options),
    groups: createScimGroups(options),
    failures: createScimFailures(options),
  }
}
