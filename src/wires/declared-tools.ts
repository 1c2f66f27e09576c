import { foldName } from '../kernel/fold-name.ts'
import { isRecord } from '../kernel/is-record.ts'

export interface DeclaredTool {
  /** What the request gives as a tool. Null if it is no object. */
  readonly tool: Readonly<Record<string, unknown>> | null
  readonly type: unknown
  readonly param: string
}

/**
 * Members that hold the client's own data, in which any name may occur: schemas, and arguments of calls. And members that only
 * refer to tools.
 */
const DATA_MEMBERS: ReadonlySet<string> = new Set([
  'parameters',
  'schema',
  'json_schema',
  'input_schema',
  'output_schema',
  'arguments',
  'metadata',
  'tool_choice',
  'allowed_tools',
])

/** Members that list tools. A vendor's later invention is likely to end so, too. */
const TOOLS_MEMBER = /tools$/

/**
 * Finds every tool that a request, or a part of one, declares, in whichever member and however deep: in messages, in the results
 * of a search for tools, in groups and in lists of lists. The depth of a body is limited by the JSON parser.
 * @param param the place of the part in the request; empty for the request itself
 * @param ownData further members that hold the client's own data
 */
export function findDeclaredTools(
  value: unknown,
  param = '',
  ownData: ReadonlySet<string> = NONE,
): DeclaredTool[] {
  const found: DeclaredTool[] = []
  search(value, param, ownData, found)
  return found
}

const NONE: ReadonlySet<string> = new Set()

function search(value: unknown, param: string, ownData: ReadonlySet<string>, found: DeclaredTool[]): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      if (typeof value[index] === 'object') search(value[index], `${param}.${index}`, ownData, found)
    return
  }
  for (const [name, member] of Object.entries(value)) {
    // Most members of most objects are text.
    if (typeof member !== 'object' || member === null) continue
    const folded = foldName(name)
    if (DATA_MEMBERS.has(folded)) continue
    const place = param === '' ? name : `${param}.${name}`
    if (TOOLS_MEMBER.test(folded)) takeTools(member, place, ownData, found)
    else if (param === '' || !ownData.has(folded)) search(member, place, ownData, found)
  }
}

/** Takes everything below a list of tools as a tool: lists of lists, and objects that hold tools. */
function takeTools(value: unknown, param: string, ownData: ReadonlySet<string>, found: DeclaredTool[]): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) takeTools(one, `${param}.${index}`, ownData, found)
    return
  }
  const tool = isRecord(value) ? value : null
  found.push({ tool, type: tool === null ? undefined : typeOf(tool), param })
  search(tool, param, ownData, found)
}

/** Returns no type if the name of the member is written in another way, because a vendor may read it nevertheless. */
function typeOf(tool: Readonly<Record<string, unknown>>): unknown {
  for (const name of Object.keys(tool)) if (name !== 'type' && foldName(name) === 'type') return ODD_TYPE
  return tool['type']
}

/** A type that no list of allowed types has. */
const ODD_TYPE = 'Type'
