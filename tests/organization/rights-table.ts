import {
  ACCOUNT_ROLE_PERMISSIONS,
  OPERATOR_ROLE_PERMISSIONS,
  PERMISSION_MEANINGS,
  PERMISSIONS,
  PERMISSIONS_OF_SCOPES,
  PROJECT_ROLE_PERMISSIONS,
  type Permission,
} from '../../src/modules/keys/keys.ts'

/** One operation of the API, with what its route needs. */
export interface Operation {
  /** `GET /v1/models` */
  readonly name: string
  /** Null: no key. */
  readonly permissions: readonly string[] | null
  readonly reach: 'project' | 'account' | 'gateway'
  /** The route takes the token of a directory and no key. */
  readonly isOfDirectory?: boolean
}

interface Column {
  readonly permissions: readonly Permission[]
  readonly isOfProject: boolean
}

const ofAccount = (permissions: readonly Permission[]): Column => ({ permissions, isOfProject: false })
const ofProject = (permissions: readonly Permission[]): Column => ({ permissions, isOfProject: true })

/** Everybody who has a column in the table, by its heading. */
export const COLUMNS: Readonly<Record<string, Column>> = {
  inference: ofAccount(PERMISSIONS_OF_SCOPES.inference),
  manage: ofAccount(PERMISSIONS_OF_SCOPES.manage),
  admin: ofAccount(PERMISSIONS_OF_SCOPES.admin),
  owner: ofAccount(ACCOUNT_ROLE_PERMISSIONS.owner),
  billing: ofAccount(ACCOUNT_ROLE_PERMISSIONS.billing),
  auditor: ofAccount(ACCOUNT_ROLE_PERMISSIONS.auditor),
  reader: ofAccount(ACCOUNT_ROLE_PERMISSIONS.reader),
  'project owner': ofProject([...PROJECT_ROLE_PERMISSIONS.owner, 'keys.own']),
  'project member': ofProject([...PROJECT_ROLE_PERMISSIONS.member, 'keys.own']),
  'project viewer': ofProject([...PROJECT_ROLE_PERMISSIONS.viewer, 'keys.own']),
  // Members of the operator's account with the role `reader`.
  operator: ofAccount([...ACCOUNT_ROLE_PERMISSIONS.reader, ...OPERATOR_ROLE_PERMISSIONS.operator]),
  'operator-reader': ofAccount([
    ...ACCOUNT_ROLE_PERMISSIONS.reader,
    ...OPERATOR_ROLE_PERMISSIONS['operator-reader'],
  ]),
}

const YES = '✓'

export function isAllowed({ permissions, reach, isOfDirectory = false }: Operation, column: Column): boolean {
  if (isOfDirectory) return false
  if (permissions === null) return true
  if (reach === 'account' && column.isOfProject) return false
  return permissions.every((permission) => column.permissions.some((held) => held === permission))
}

/** Returns docs/rights.md. */
export function renderRights(operations: readonly Operation[]): string {
  const names = Object.keys(COLUMNS)
  const roles = [
    ...Object.entries(ACCOUNT_ROLE_PERMISSIONS),
    ...Object.entries(PROJECT_ROLE_PERMISSIONS).map(
      ([name, permissions]) => [`project ${name}`, permissions] as const,
    ),
    ...Object.entries(OPERATOR_ROLE_PERMISSIONS),
  ].map(([name, permissions]): [string, readonly string[]] => [name, permissions])
  return [
    INTRODUCTION,
    '## Permissions\n',
    row(['permission', 'allows', ...Object.keys(PERMISSIONS_OF_SCOPES).map((scope) => `\`${scope}\``)]),
    line(2 + Object.keys(PERMISSIONS_OF_SCOPES).length),
    ...PERMISSIONS.map((permission) =>
      row([
        `\`${permission}\``,
        PERMISSION_MEANINGS[permission],
        ...Object.values(PERMISSIONS_OF_SCOPES).map((held) => mark(held.includes(permission))),
      ]),
    ),
    '\n## Roles\n',
    row(['permission', ...roles.map(([name]) => name)]),
    line(1 + roles.length),
    ...PERMISSIONS.map((permission) =>
      row([`\`${permission}\``, ...roles.map(([, held]) => mark(held.includes(permission)))]),
    ),
    '\n## Routes\n',
    ROUTES,
    row(['route', 'needs', 'reach', ...names]),
    line(3 + names.length),
    ...operations.map((operation) =>
      row([
        `\`${operation.name}\``,
        needsOf(operation),
        operation.permissions === null ? '' : operation.reach,
        ...Object.values(COLUMNS).map((column) => mark(isAllowed(operation, column))),
      ]),
    ),
    '',
  ].join('\n')
}

/** Reads the table of routes back from the document: for each route the headings of those who reach it. */
export function readRights(document: string): Map<string, ReadonlySet<string>> {
  const lines = document.slice(document.indexOf('## Routes')).split('\n')
  const rows = lines.filter((text) => text.startsWith('| `')).map(cellsOf)
  const names = cellsOf(lines.find((text) => text.startsWith('| route')) ?? '').slice(3)
  return new Map(
    rows.map(([route = '', , , ...cells]) => [
      route.replaceAll('`', ''),
      new Set(names.filter((_, index) => cells[index] === YES)),
    ]),
  )
}

function needsOf({ permissions, isOfDirectory = false }: Operation): string {
  if (isOfDirectory) return 'SCIM token'
  if (permissions === null) return 'no key'
  return permissions.length === 0 ? 'any key' : permissions.map((name) => `\`${name}\``).join(' ')
}

const mark = (isHeld: boolean): string => (isHeld ? YES : '')
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const line = (cells: number): string => `|${'---|'.repeat(cells)}`
const cellsOf = (text: string): string[] =>
  text
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const INTRODUCTION = `# Rights

Every route names the permissions that it needs. A key has those that its scopes mean, bounded by the roles of its owner: a key of the account itself has
all of them, a key of a person those that any role of the person gives, in the account, in the project of the key, or by a group. [Organizations](organizations.md)
says who gets which role. Tests compare this page with every route and every role over HTTP.
`

const ROUTES = `The columns \`inference\`, \`manage\` and \`admin\` are keys of the account with one scope. The columns \`operator\` and \`operator-reader\` are people with
that role and, in their own account, the role \`reader\`: operating the gateway gives nothing in an account. Routes that any key reaches show a key without
\`usage.read\`, \`log.read\` or \`organization.read\` only what is its own. Keys of a project do not reach routes about the account, and elsewhere see only rows of
their project: everything else is 404, like what does not exist.
`
