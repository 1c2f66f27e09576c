import { Type, type TSchema } from 'typebox'
import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { convertText } from '../bodies/convert-text.ts'
import { describeProblem } from '../bodies/describe-problem.ts'
import { findProblem } from '../bodies/find-problem.ts'
import { validatorOf } from '../bodies/validator-of.ts'
import type { Form, FormDescription, UploadedFile, FormField } from './form.ts'

interface FormBody {
  /** Returns the fields as a body with the types of the schema. */
  read(form: Form): unknown
  /** Throws if a required file is missing. In a JSON body, files are members. */
  requireFiles(body: unknown, files: readonly UploadedFile[]): void
}

export function compileFormBody(description: FormDescription, schema: TSchema = Type.Object({})): FormBody {
  const lists = listFieldsOf(schema)
  const required = Object.entries(description.files).filter(([, rule]) => rule.isRequired)

  const requireFiles: FormBody['requireFiles'] = (body, files) => {
    const members = isRecord(body) ? body : {}
    for (const [param, { otherName = param }] of required) {
      if (members[param] !== undefined || members[otherName] !== undefined) continue
      if (files.some(({ field }) => field === param)) continue
      const message = `Missing required parameter: '${param}'.`
      throw new AppError('missing_required_parameter', message, { param })
    }
  }
  return {
    requireFiles,
    read: (form) => {
      const body = convertText(
        schema,
        collectFields(form.fields, (name) => lists.has(name)),
      )
      if (!validatorOf(schema).Check(body)) throw describeProblem(findProblem(schema, body))
      requireFiles(body, form.files)
      return body
    },
  }
}

function listFieldsOf(schema: TSchema): ReadonlySet<string> {
  const { properties = {} }: { properties?: Record<string, SchemaShape> } = schema
  return new Set(Object.keys(properties).filter((name) => isListOnly(properties[name] ?? {})))
}

interface SchemaShape {
  readonly type?: unknown
  readonly anyOf?: readonly SchemaShape[]
}

// If the schema accepts a single value as well as a list, a field that was sent once stays a single value.
function isListOnly({ type, anyOf = [] }: SchemaShape): boolean {
  if (type === 'array') return true
  const meant = anyOf.filter((one) => one.type !== 'null')
  return meant.length > 0 && meant.every(isListOnly)
}

/**
 * Converts the fields of a form to members of a body. `name[]`, and names for which `isList` is true, become lists;
 * `name[member]` becomes a member of an object.
 */
function collectFields(
  fields: readonly FormField[],
  isList: (name: string) => boolean,
): Record<string, unknown> {
  const values = new Map<string, string[]>()
  const objects = new Map<string, Map<string, string>>()
  const lists = new Set<string>()
  for (const { name, value } of fields) {
    const [, base = name, suffix, member = ''] = /^([^[\]]+)(\[([^[\]]*)\])?$/.exec(name) ?? []
    if (suffix !== undefined && member !== '') {
      objects.set(base, (objects.get(base) ?? new Map<string, string>()).set(member, value))
      continue
    }
    if (suffix !== undefined) lists.add(base)
    values.set(base, [...(values.get(base) ?? []), value])
  }
  const members = [...values].map(([name, all]) => {
    const isWhole = lists.has(name) || isList(name)
    // If a field that is not a list is repeated, the last value counts.
    return [name, isWhole ? all : all.at(-1)]
  })
  const nested = [...objects].map(([name, entries]) => [name, Object.fromEntries(entries)])
  return Object.fromEntries([...nested, ...members])
}
