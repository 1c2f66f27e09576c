import { Compile } from 'typebox/compile'
import type { TSchema } from 'typebox'
import { convertText } from './convert-text.ts'
import { describeProblem } from './describe-problem.ts'
import { findProblem } from './find-problem.ts'

/** Compiles a schema once; the check that it returns throws an `AppError` that names the offending field. */
export function compileCheck(schema: TSchema): (value: unknown) => void {
  const validator = Compile(schema)
  return (value) => {
    if (!validator.Check(value)) throw describeProblem(findProblem(schema, value))
  }
}

/** Compiles a schema for what arrives as text, such as query parameters: numbers and booleans are read from it. */
export function compileConversion(schema: TSchema): (value: unknown) => unknown {
  const validator = Compile(schema)
  return (value) => {
    const converted = convertText(schema, validator.Default(value))
    if (!validator.Check(converted)) throw describeProblem(findProblem(schema, converted))
    return converted
  }
}
