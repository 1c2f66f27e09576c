import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { isRecord } from '../../kernel/is-record.ts'
import { describeBound, TYPE_NAMES } from './describe-bound.ts'
import { branchesOf, isOfType, type SchemaShape } from './schema-shape.ts'

/** The first thing that is wrong with a value. */
export interface Problem {
  readonly keyword: 'required' | 'additionalProperties' | 'type' | 'enum' | 'const' | 'anyOf' | 'bound'
  /** The names and indexes of the members that lead to it. */
  readonly path: readonly (string | number)[]
  /** The rest of a sentence that starts with the field's name. */
  readonly expectation: string
  /** The allowed types or values of the schema. */
  readonly allowed: readonly string[]
}

type Path = Problem['path']

/**
 * Finds the first problem and stops. Each step descends into the first member that fails the compiled check, so the cost is
 * that of a few checks, however many other problems there are.
 */
export function findProblem(schema: SchemaShape, value: unknown, path: Path = []): Problem | null {
  if (passes(schema, value)) return null
  if (schema.anyOf !== undefined) return findInUnion(branchesOf(schema), value, path)
  if (!isOfType(schema, value)) return ofType(schema, path)
  if (schema.const !== undefined) {
    return {
      keyword: 'const',
      path,
      expectation: `must be ${String(schema.const)}`,
      allowed: [String(schema.const)],
    }
  }
  if (schema.enum !== undefined) {
    const allowed = schema.enum.map(String)
    return { keyword: 'enum', path, expectation: `must be one of ${allowed.join(', ')}`, allowed }
  }
  return findBound(schema, value, path) ?? findInside(schema, value, path) ?? { ...UNKNOWN, path }
}

const UNKNOWN = { keyword: 'bound', expectation: 'has a form that is not allowed here', allowed: [] } as const

function ofType({ type = '' }: SchemaShape, path: Path): Problem {
  return { keyword: 'type', path, expectation: `must be ${nameOfType(type)}`, allowed: [type] }
}

function nameOfType(type: string): string {
  return TYPE_NAMES[type] ?? 'of another type'
}

const checks = new WeakMap<SchemaShape, (value: unknown) => boolean>()

function passes(schema: SchemaShape, value: unknown): boolean {
  let check = checks.get(schema)
  if (check === undefined) {
    const validator = Compile(toSchema(schema))
    check = (given) => validator.Check(given)
    checks.set(schema, check)
  }
  return check(value)
}

const bounds = new WeakMap<SchemaShape, TSchema>()

/** Finds violated limits of the value itself, such as length or pattern. */
function findBound(schema: SchemaShape, value: unknown, path: Path): Problem | null {
  let bound = bounds.get(schema)
  if (bound === undefined) {
    const {
      properties: _members,
      patternProperties: _entries,
      propertyNames: _form,
      items: _items,
      required: _names,
      additionalProperties: _others,
      ...own
    } = schema
    bound = toSchema(own)
    bounds.set(schema, bound)
  }
  const tooLong = describeExcess(schema, value)
  if (tooLong !== null) return { ...UNKNOWN, path, expectation: tooLong }
  const [error] = Errors(bound, value)
  if (error === undefined) return null
  const said = error.keyword === 'pattern' ? null : describeBound(schema, value)
  if (said !== null) return { ...UNKNOWN, path, expectation: said }
  // Show the reference's description of the field instead of a regular expression.
  const { description } = schema
  if (description === undefined) return { ...UNKNOWN, path }
  return { ...UNKNOWN, path, expectation: `${UNKNOWN.expectation}: ${description.replace(/\.$/, '')}` }
}

/** No pattern is tried on a text that is too long anyway: it may take time and memory for each character. */
function describeExcess(schema: SchemaShape, value: unknown): string | null {
  const isLong = typeof value === 'string' && value.length > 2 * (schema.maxLength ?? Infinity)
  return isLong ? describeBound(schema, value) : null
}

function findInside(schema: SchemaShape, value: unknown, path: Path): Problem | null {
  const { items } = schema
  if (Array.isArray(value)) {
    if (items === undefined) return null
    const index = value.findIndex((item) => !passes(items, item))
    return index === -1 ? null : findProblem(items, value[index], [...path, index])
  }
  return isRecord(value) ? findInMembers(schema, value, path) : null
}

function findInMembers(schema: SchemaShape, value: Record<string, unknown>, path: Path): Problem | null {
  const { properties = {}, patternProperties = {}, required = [] } = schema
  const given = Object.entries(properties).filter(([name]) => Object.hasOwn(value, name))
  // Report a wrong discriminator before missing members.
  const kinds = given.filter(([, property]) => property.const !== undefined)
  for (const [name, property] of kinds) {
    const problem = findProblem(property, value[name], [...path, name])
    if (problem !== null) return problem
  }
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined)
    return { keyword: 'required', path: [...path, missing], expectation: 'is missing', allowed: [] }
  const unknown = findUnknown(schema, value)
  if (unknown !== undefined)
    return {
      keyword: 'additionalProperties',
      path: [...path, unknown],
      expectation: 'is unknown',
      allowed: [],
    }
  for (const [name, property] of given) {
    if (value[name] === undefined || passes(property, value[name])) continue
    return findProblem(property, value[name], [...path, name])
  }
  const { maxLength = Infinity } = schema.propertyNames ?? {}
  if (Object.keys(value).some((name) => name.length > maxLength))
    return { ...UNKNOWN, path, expectation: `must not have names of more than ${maxLength} characters` }
  for (const [pattern, entry] of Object.entries(patternProperties)) {
    const form = new RegExp(pattern)
    for (const name of Object.keys(value))
      if (form.test(name) && !passes(entry, value[name]))
        return findProblem(entry, value[name], [...path, name])
  }
  return null
}

/** Returns a member that the schema does not name, if the schema allows no others. */
function findUnknown(schema: SchemaShape, value: Record<string, unknown>): string | undefined {
  if (schema.additionalProperties !== false) return undefined
  const { properties = {}, patternProperties = {} } = schema
  const forms = Object.keys(patternProperties).map((pattern) => new RegExp(pattern))
  return Object.keys(value).find(
    (name) => !Object.hasOwn(properties, name) && !forms.some((form) => form.test(name)),
  )
}

/** Returns the problem of the branch that the client meant, or what all branches expect if no branch fits. */
function findInUnion(branches: readonly SchemaShape[], value: unknown, path: Path): Problem {
  const problems = branches
    .map((branch) => findProblem(branch, value, path))
    .filter((problem) => problem !== null)
  const meant = problems.filter((problem) => !isOtherBranch(problem, path.length))
  // If the types of a branch fit, the problem is in its values.
  return (
    meant.find(({ keyword }) => keyword !== 'type') ??
    meant[0] ?? {
      keyword: 'anyOf',
      path,
      expectation: expectationOfUnion(problems, path.length),
      allowed: [],
    }
  )
}

/** Returns whether the value was meant for another branch: it has another type, or another `type` member. */
function isOtherBranch({ keyword, path }: Problem, depth: number): boolean {
  if (keyword === 'type' || keyword === 'enum') return path.length === depth
  return (
    keyword === 'const' && (path.length === depth || (path.length === depth + 1 && path[depth] === 'type'))
  )
}

function expectationOfUnion(problems: readonly Problem[], depth: number): string {
  const allowedBy = (wanted: Problem['keyword'], length: number): string[] => [
    ...new Set(
      problems.flatMap(({ keyword, path, allowed }) =>
        keyword === wanted && path.length === length ? allowed : [],
      ),
    ),
  ]
  const values = [...allowedBy('enum', depth), ...allowedBy('const', depth)]
  const types = allowedBy('type', depth).filter((type) => type !== 'null')
  const ofTypes = types.map(nameOfType).join(' or ')
  if (values.length > 0) return `must be one of ${values.join(', ')}${ofTypes && ` or ${ofTypes}`}`
  if (ofTypes !== '') return `must be ${ofTypes}`
  const kinds = allowedBy('const', depth + 1)
  return kinds.length > 0 ? `must have a type of ${kinds.join(', ')}` : UNKNOWN.expectation
}

/** Converts the type only: parts of schemas are schemas. */
function toSchema(shape: object): TSchema {
  return shape
}
