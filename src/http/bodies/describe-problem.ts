import { AppError } from '../../kernel/app-error.ts'
import type { Problem } from './find-problem.ts'

/** Limit for field names, because clients choose some of them. */
const PARAM_LENGTH_MAX = 256

/** Returns the error for the client, with the name of the field. */
export function describeProblem(problem: Problem | null): AppError {
  if (problem === null) return new AppError('invalid_request', 'The request is not valid.')
  const { keyword, path, expectation } = problem
  const param = path.join('.').slice(0, PARAM_LENGTH_MAX)
  if (keyword === 'required')
    return new AppError('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
  if (keyword === 'additionalProperties') {
    const message = `Unsupported parameter: '${param}'. It would not be honoured.`
    return new AppError('unsupported_parameter', message, { param })
  }
  if (path.length === 0) return new AppError('invalid_request', `The body ${expectation}.`)
  return new AppError('invalid_value', `'${param}' ${expectation}.`, { param })
}
