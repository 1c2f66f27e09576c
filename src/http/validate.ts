import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import type { TSchema } from 'typebox'
import { describeProblem } from './describe-problem.ts'

// A union of many forms makes many complaints; the one that matters may be among the last.
Settings.Set({ maxErrors: 64 })

/** Compiles a schema once; the check that it returns throws an `AppError` that names the offending field. */
export function compileCheck(schema: TSchema): (value: unknown) => void {
  const validator = Compile(schema)
  return (value) => {
    if (!validator.Check(value)) throw describeProblem(validator.Errors(value))
  }
}

/** Compiles a schema for what arrives as text, such as query parameters: numbers and booleans are read from it. */
export function compileConversion(schema: TSchema): (value: unknown) => unknown {
  const validator = Compile(schema)
  return (value) => {
    const converted = validator.Convert(validator.Default(value))
    if (!validator.Check(converted)) throw describeProblem(validator.Errors(converted))
    return converted
  }
}
