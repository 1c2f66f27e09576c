import type { TLocalizedValidationError } from 'typebox/error'
import { AppError } from '../kernel/app-error.ts'

type Problem = TLocalizedValidationError

/** Tells the client of the one problem that matters most, with the name of the field. */
export function describeProblem(problems: readonly Problem[]): AppError {
  const found = findProblem(problems, '#')
  if (!found) return new AppError('invalid_request', 'The request is not valid.')
  const { problem, expectation } = found
  const parent = problem.instancePath.split('/').filter(Boolean).join('.')
  const unknown = findUnknownMember(problem, parent)
  if (unknown !== null) {
    const message = `Unsupported parameter: '${unknown}'. It would not be honoured.`
    return new AppError('unsupported_parameter', message, { param: unknown })
  }
  if (problem.keyword === 'required') {
    const [missing = ''] = problem.params.requiredProperties
    const param = parent === '' ? missing : `${parent}.${missing}`
    return new AppError('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
  }
  if (parent === '') return new AppError('invalid_request', `The body ${expectation}.`)
  return new AppError('invalid_value', `'${parent}' ${expectation}.`, { param: parent })
}

/** A member that a closed schema does not name, told of the object that holds it or of the member itself. */
function findUnknownMember(problem: Problem, path: string): string | null {
  if (problem.keyword === 'boolean' && problem.schemaPath.endsWith('/additionalProperties')) return path
  if (problem.keyword !== 'additionalProperties') return null
  const [name = ''] = problem.params.additionalProperties
  return path === '' ? name : `${path}.${name}`
}

interface Found {
  readonly problem: Problem
  readonly expectation: string
}

/** Outside unions the outermost problem; inside one, the problem of the branch that was meant. */
function findProblem(problems: readonly Problem[], path: string): Found | null {
  const direct = problems.filter((problem) => problem.keyword !== 'anyOf' && !isInsideUnion(problem, path))
  const [outermost] = direct.toSorted((a, b) => a.instancePath.length - b.instancePath.length)
  if (outermost) return { problem: outermost, expectation: expectationOf(outermost) }
  const [first] = problems.filter((problem) => isInsideUnion(problem, path))
  if (!first) return null
  const unionPath = first.schemaPath.slice(0, first.schemaPath.indexOf('/anyOf/', path.length))
  const branches = Map.groupBy(
    problems.filter((problem) => problem.schemaPath.startsWith(`${unionPath}/anyOf/`)),
    (problem) => branchPathOf(problem, unionPath),
  )
  const possible = [...branches].filter(
    ([branchPath, branch]) => !branch.some((problem) => isOtherBranch(problem, branchPath)),
  )
  // Where all types are right, only the values can be wrong.
  const meant =
    possible.find(([, branch]) => branch.every(({ keyword }) => keyword !== 'type')) ?? possible[0]
  if (meant) return findProblem(meant[1], meant[0])
  const instancePath = shortest([...branches.values()].flat().map(placeOf))
  return {
    problem: { ...first, instancePath, keyword: 'anyOf', params: {} },
    expectation: expectationOfUnion([...branches.values()].flat(), instancePath),
  }
}

function isInsideUnion(problem: Problem, path: string): boolean {
  return problem.schemaPath.includes('/anyOf/', path.length)
}

function branchPathOf(problem: Problem, unionPath: string): string {
  const end = problem.schemaPath.indexOf('/', unionPath.length + '/anyOf/'.length)
  return end === -1 ? problem.schemaPath : problem.schemaPath.slice(0, end)
}

/** A value of another type, or another discriminator, was meant for another branch. */
function isOtherBranch(problem: Problem, branchPath: string): boolean {
  if (problem.keyword === 'type' || problem.keyword === 'enum') return problem.schemaPath === branchPath
  return problem.keyword === 'const' && problem.schemaPath === `${branchPath}/properties/type`
}

/** The value whose branches are compared: a wrong discriminator is told of the object that holds it. */
function placeOf({ keyword, instancePath }: Problem): string {
  return keyword === 'const' ? instancePath.replace(/\/type$/, '') : instancePath
}

function shortest(paths: readonly string[]): string {
  return paths.reduce((best, path) => (path.length < best.length ? path : best))
}

function expectationOfUnion(problems: readonly Problem[], instancePath: string): string {
  const atTop = problems.filter((problem) => problem.instancePath === instancePath)
  const values = atTop.flatMap((problem) =>
    problem.keyword === 'enum' ? problem.params.allowedValues.map(String) : [],
  )
  const types = atTop.flatMap((problem) => (problem.keyword === 'type' ? [String(problem.params.type)] : []))
  const shown = [...new Set(types)].filter((type) => type !== 'null')
  const ofType = shown.length > 0 ? `of type ${shown.join(' or ')}` : ''
  if (values.length > 0) return `must be one of ${values.join(', ')}${ofType && ` or ${ofType}`}`
  if (ofType !== '') return `must be ${ofType}`
  const kinds = problems.flatMap((problem) =>
    problem.keyword === 'const' ? [String(problem.params.allowedValue)] : [],
  )
  return kinds.length > 0
    ? `must have a type of ${[...new Set(kinds)].join(', ')}`
    : 'has a form that is not allowed here'
}

function expectationOf(problem: Problem): string {
  if (problem.keyword === 'enum')
    return `must be one of ${problem.params.allowedValues.map(String).join(', ')}`
  if (problem.keyword === 'type') return `must be of type ${String(problem.params.type)}`
  return problem.message
}
